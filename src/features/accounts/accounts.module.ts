import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MailModule } from '../mail/index.js';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { AccountActs } from './record-account-act.js';
import { AccountMails, PasswordService } from './password.service.js';
import { AccountProof } from './account-proof.js';
import { Accounts, SecondFactors } from './accounts.repository.js';
import { PasswordController, ResetPageController } from './password.controller.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactorService } from './second-factor.service.js';
import { SessionController, SessionsController } from './session.controller.js';
import { SessionEntity } from './session.entity.js';
import { SessionService } from './session.service.js';
import { Sessions } from './sessions.repository.js';
import { SignIn } from './sign-in.js';
import { SignInTries } from './sign-in-tries.js';

/** @level 4 */
@Module({
  imports: [TypeOrmModule.forFeature([SessionEntity]), MailModule, RecordsModule, WorkspacesModule],
  controllers: [
    SessionController,
    SessionsController,
    PasswordController,
    ResetPageController,
    SecondFactorController,
  ],
  providers: [
    Sessions,
    SessionService,
    SignIn,
    SignInTries,
    AccountProof,
    Accounts,
    AccountActs,
    AccountMails,
    PasswordService,
    SecondFactors,
    SecondFactorService,
  ],
  exports: [Sessions, SessionService, SignIn],
})
export class AccountsModule {}
