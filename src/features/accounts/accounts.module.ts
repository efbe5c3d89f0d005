import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MailModule } from '../mail/index.js';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { AccountActs } from './account-acts.js';
import { Accounts } from './accounts.repository.js';
import { BeginSecondFactor } from './begin-second-factor.js';
import { ChangePassword } from './change-password.js';
import { CheckSecondFactor } from './check-second-factor.js';
import { ConfirmSecondFactor } from './confirm-second-factor.js';
import { EndFormerSession } from './end-former-session.js';
import { EndSession } from './end-session.js';
import { OwnAccount } from './own-account.js';
import { PasswordController } from './password.controller.js';
import { PasswordResets } from './password-resets.repository.js';
import { ProveAccount } from './prove-account.js';
import { ReadSecondFactor } from './read-second-factor.js';
import { ReadSession } from './read-session.js';
import { RecordAccountAct } from './record-account-act.js';
import { RecordSignInLock } from './record-sign-in-lock.js';
import { RemoveSecondFactor } from './remove-second-factor.js';
import { RenewRecoveryCodes } from './renew-recovery-codes.js';
import { RequestPasswordReset } from './request-password-reset.js';
import { ResetPageController } from './reset-page.controller.js';
import { ResetPassword } from './reset-password.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactors } from './second-factors.repository.js';
import { SendAccountMail } from './send-account-mail.js';
import { SendResetMail } from './send-reset-mail.js';
import { SessionController } from './session.controller.js';
import { SessionEntity } from './session.entity.js';
import { SessionsController } from './sessions.controller.js';
import { Sessions } from './sessions.repository.js';
import { SignIn } from './sign-in.js';
import { SignInCounts } from './sign-in-counts.repository.js';
import { SignInTries } from './sign-in-tries.js';
import { StartSession } from './start-session.js';
import { UnrecordedActs } from './unrecorded-acts.repository.js';
import { VerifySecondFactor } from './verify-second-factor.js';

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
    SignIn,
    StartSession,
    ReadSession,
    EndSession,
    EndFormerSession,
    SignInCounts,
    SignInTries,
    RecordSignInLock,
    ProveAccount,
    OwnAccount,
    Accounts,
    AccountActs,
    UnrecordedActs,
    RecordAccountAct,
    SendAccountMail,
    ChangePassword,
    PasswordResets,
    RequestPasswordReset,
    SendResetMail,
    ResetPassword,
    SecondFactors,
    CheckSecondFactor,
    ReadSecondFactor,
    BeginSecondFactor,
    ConfirmSecondFactor,
    RemoveSecondFactor,
    RenewRecoveryCodes,
    VerifySecondFactor,
  ],
  exports: [Sessions, SignIn, StartSession],
})
export class AccountsModule {}
