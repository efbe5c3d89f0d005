import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AskingToken } from './asking-token.js';
import { Audiences } from './audiences.js';
import { AutonomyMode } from './autonomy-mode.js';
import { DeviceEntity } from './device.entity.js';
import { Devices } from './devices.repository.js';
import { FirstRun } from './first-run.js';
import { InstalledPacks } from './installed-packs.js';
import { KnownZone } from './known-zone.js';
import { Members } from './members.repository.js';
import { ProfileController } from './profile.controller.js';
import { SessionToken } from './session-token.js';
import { SettingsController } from './settings.controller.js';
import { TeamOfRequest } from './team-of-request.js';
import { Teams } from './teams.repository.js';
import { TokenService } from './token.service.js';
import { TokensStopped } from './tokens-stopped.js';
import { TokensController } from './tokens.controller.js';
import { Tokens } from './tokens.repository.js';
import { WorkspaceController } from './workspace.controller.js';
import { WorkspaceService } from './workspace.service.js';
import { Workspaces } from './workspaces.repository.js';
import {
  MemberEntity,
  TeamEntity,
  TeamMemberEntity,
  TokenEntity,
  UserEntity,
  WorkspaceEntity,
} from './workspaces.entity.js';

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
