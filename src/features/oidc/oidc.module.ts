import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { TeamsModule } from '../teams/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { JoinByOidc, SignInByOidc } from './sign-in-by-oidc.js';
import { OidcController } from './oidc.controller.js';
import { OidcFetch, OidcProvider } from './oidc-provider.js';
import { OidcIdentities } from './oidc-identities.repository.js';
import { OidcTransactions } from './oidc-transaction.js';

/** @level 6 */
@Module({
  imports: [AccountsModule, TeamsModule, WorkspacesModule],
  controllers: [OidcController],
  providers: [OidcFetch, OidcIdentities, OidcProvider, OidcTransactions, JoinByOidc, SignInByOidc],
})
export class OidcModule {}
