import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../accounts/index.js';
import { MailModule } from '../mail/index.js';
import { AcceptInvite } from './accept-invite.js';
import { AcceptanceController, InvitePageController, InvitesController } from './invites.controller.js';
import { TeamService } from './teams.service.js';
import { MemberService } from './members.service.js';
import { InviteEntity } from './invite.entity.js';
import { Invites } from './invites.repository.js';
import { InviteService } from './invites.service.js';
import { MembersController, TeamMembersController, TeamsController } from './teams.controller.js';
import { SendInviteMail } from './send-invite-mail.js';
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
  providers: [TeamWork, Invites, TeamService, MemberService, InviteService, SendInviteMail, AcceptInvite],
  exports: [Invites, InviteService, AcceptInvite],
})
export class TeamsModule {}
