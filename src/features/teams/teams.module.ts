import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../accounts/index.js';
import { MailModule } from '../mail/index.js';
import { AcceptInvite } from './accept-invite.js';
import { AcceptanceController } from './acceptance.controller.js';
import { ArchiveTeam } from './archive-team.js';
import { ChangeRole } from './change-role.js';
import { ChangeTeamRole } from './change-team-role.js';
import { CreateTeam } from './create-team.js';
import { InviteEntity } from './invite.entity.js';
import { InviteMember } from './invite-member.js';
import { InvitePageController } from './invite-page.controller.js';
import { InvitesController } from './invites.controller.js';
import { Invites } from './invites.repository.js';
import { IssueInvite } from './issue-invite.js';
import { JoinWorkspace } from './join-workspace.js';
import { ManagedInvite } from './managed-invite.js';
import { MembersController } from './members.controller.js';
import { Rejoin } from './rejoin.js';
import { RemoveFromTeam } from './remove-from-team.js';
import { RemoveMember } from './remove-member.js';
import { RenameTeam } from './rename-team.js';
import { ResendInvite } from './resend-invite.js';
import { SendInviteMail } from './send-invite-mail.js';
import { TeamMembersController, TeamsController } from './teams.controller.js';
import { TeamWork } from './team-work.repository.js';
import { StandingOrdersModule } from '../standing-orders/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { WithdrawInvite } from './withdraw-invite.js';
import { WithdrawInvites } from './withdraw-invites.js';

/** @level 5 */
@Module({
  imports: [
    TypeOrmModule.forFeature([InviteEntity]),
    AccountsModule,
    MailModule,
    WorkspacesModule,
    StandingOrdersModule,
  ],
  controllers: [
    TeamsController,
    TeamMembersController,
    MembersController,
    InvitesController,
    AcceptanceController,
    InvitePageController,
  ],
  providers: [
    TeamWork,
    Invites,
    CreateTeam,
    RenameTeam,
    ArchiveTeam,
    InviteMember,
    IssueInvite,
    SendInviteMail,
    ManagedInvite,
    ResendInvite,
    WithdrawInvite,
    WithdrawInvites,
    AcceptInvite,
    JoinWorkspace,
    Rejoin,
    ChangeTeamRole,
    RemoveFromTeam,
    ChangeRole,
    RemoveMember,
  ],
  exports: [Invites, IssueInvite, Rejoin, WithdrawInvites],
})
export class TeamsModule {}
