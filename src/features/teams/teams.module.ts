import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../accounts/index.js';
import { MailModule } from '../mail/index.js';
import { AcceptInvite, JoinWorkspace, Rejoin } from './accept-invite.js';
import { AcceptanceController, InvitesController } from './invites.controller.js';
import { ArchiveTeam, ChangeTeamRole, CreateTeam, RemoveFromTeam, RenameTeam } from './teams.service.js';
import { ChangeRole, InviteMember, RemoveMember } from './members.service.js';
import { InviteEntity } from './invite.entity.js';
import { InvitePageController } from './invite-page.controller.js';
import { Invites } from './invites.repository.js';
import {
  IssueInvite,
  ManagedInvite,
  ResendInvite,
  WithdrawInvite,
  WithdrawInvites,
} from './invites.service.js';
import { MembersController } from './members.controller.js';
import { SendInviteMail } from './send-invite-mail.js';
import { TeamMembersController, TeamsController } from './teams.controller.js';
import { TeamWork } from './team-work.repository.js';
import { StandingOrdersModule } from '../standing-orders/index.js';
import { WorkspacesModule } from '../workspaces/index.js';

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
