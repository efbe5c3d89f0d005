import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AskingToken, TeamOfRequest } from './asking-token.js';
import { Audiences } from './audiences.js';
import { AutonomyMode, InstalledPacks, KnownZone, WorkspaceService } from './workspace.service.js';
import {
  DeviceEntity,
  MemberEntity,
  TeamEntity,
  TeamMemberEntity,
  TokenEntity,
  UserEntity,
  WorkspaceEntity,
} from './workspaces.entity.js';
import { Devices, Workspaces } from './workspaces.repository.js';
import { FirstRun } from './first-run.js';
import { Members } from './members.repository.js';
import { ProfileController, SettingsController, WorkspaceController } from './workspace.controller.js';
import { SessionToken, TokenService, TokensStopped } from './token.service.js';
import { Teams } from './teams.repository.js';
import { TokensController } from './tokens.controller.js';
import { Tokens } from './tokens.repository.js';

/** @level 2 */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      WorkspaceEntity,
      UserEntity,
      MemberEntity,
      TeamEntity,
      TeamMemberEntity,
      TokenEntity,
      DeviceEntity,
    ]),
  ],
  controllers: [ProfileController, SettingsController, TokensController, WorkspaceController],
  providers: [
    Audiences,
    KnownZone,
    AutonomyMode,
    InstalledPacks,
    FirstRun,
    AskingToken,
    TeamOfRequest,
    TokenService,
    Workspaces,
    Tokens,
    TokensStopped,
    Teams,
    Members,
    Devices,
    SessionToken,
    WorkspaceService,
  ],
  exports: [
    TokenService,
    Audiences,
    AutonomyMode,
    InstalledPacks,
    WorkspaceService,
    Devices,
    FirstRun,
    KnownZone,
    Members,
    SessionToken,
    AskingToken,
    TeamOfRequest,
    Teams,
    Tokens,
    TokensStopped,
    Workspaces,
  ],
})
export class WorkspacesModule {}
