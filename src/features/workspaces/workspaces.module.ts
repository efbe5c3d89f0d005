import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AcceptanceToken } from './acceptance-token.js';
import { ChangeSettings } from './change-settings.js';
import { Audiences } from './audiences.js';
import { CreateToken } from './create-token.js';
import { AutonomyMode } from './autonomy-mode.js';
import { InstalledPacks } from './installed-packs.js';
import { DecidingMembers } from './deciding-members.repository.js';
import { DeviceEntity } from './device.entity.js';
import { Devices } from './devices.repository.js';
import { KnownZone } from './known-zone.js';
import { FirstRun } from './first-run.js';
import { Members } from './members.repository.js';
import { Teams } from './teams.repository.js';
import { PauseToken } from './pause-token.js';
import { ProfileController } from './profile.controller.js';
import { ReadProfile } from './read-profile.js';
import { RenameWorkspace } from './rename-workspace.js';
import { RevokeToken } from './revoke-token.js';
import { RotateToken } from './rotate-token.js';
import { SessionToken } from './session-token.js';
import { SettingsController } from './settings.controller.js';
import { AskingToken } from './asking-token.js';
import { TeamOfRequest } from './team-of-request.js';
import { TokensStopped } from './tokens-stopped.js';
import { TokenUse } from './token-use.js';
import { TokensController } from './tokens.controller.js';
import { Tokens } from './tokens.repository.js';
import { WorkspaceController } from './workspace.controller.js';
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
    TokenUse,
    Workspaces,
    Tokens,
    TokensStopped,
    Teams,
    Members,
    DecidingMembers,
    Devices,
    AcceptanceToken,
    CreateToken,
    PauseToken,
    RevokeToken,
    RotateToken,
    SessionToken,
    ChangeSettings,
    ReadProfile,
    RenameWorkspace,
  ],
  exports: [
    AcceptanceToken,
    Audiences,
    AutonomyMode,
    InstalledPacks,
    ChangeSettings,
    DecidingMembers,
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
