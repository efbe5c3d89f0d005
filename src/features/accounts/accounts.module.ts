import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { EndSession } from './end-session.js';
import { JoinByOidc } from './join-by-oidc.js';
import { OidcController } from './oidc.controller.js';
import { OidcFetch } from './oidc-fetch.js';
import { OidcIdentities } from './oidc-identities.repository.js';
import { OidcProvider } from './oidc-provider.js';
import { OidcTransactions } from './oidc-transaction.js';
import { ReadSession } from './read-session.js';
import { SessionController } from './session.controller.js';
import { SessionEntity } from './session.entity.js';
import { SessionsController } from './sessions.controller.js';
import { Sessions } from './sessions.repository.js';
import { SignIn } from './sign-in.js';
import { SignInByOidc } from './sign-in-by-oidc.js';
import { StartSession } from './start-session.js';

/** @level 4 */
@Module({
  imports: [TypeOrmModule.forFeature([SessionEntity]), WorkspacesModule],
  controllers: [SessionController, SessionsController, OidcController],
  providers: [
    Sessions,
    SignIn,
    StartSession,
    ReadSession,
    EndSession,
    OidcFetch,
    OidcIdentities,
    OidcProvider,
    OidcTransactions,
    JoinByOidc,
    SignInByOidc,
  ],
})
export class AccountsModule {}
