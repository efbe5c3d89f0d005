export { TokenService } from './token.service.js';
export { AskBody, AskedQuery, AskedView } from './asking-token.dto.js';
export { AskingToken, TooManyPending } from './asking-token.js';
export { type Audience, teamOf } from './audience.js';
export { Audiences } from './audiences.js';
export { AutonomyMode } from './autonomy-mode.js';
export { OWNER_SETTINGS, WorkspaceService } from './workspace.service.js';
export {
  type DecidingMember,
  mayDecide,
  type Member,
  Members,
  roleInTeam,
  seenFrom,
  type StandingMember,
  viewOf,
} from './members.repository.js';
export { Devices } from './devices.repository.js';
export { FirstRun } from './first-run.js';
export { InstalledPacks } from './installed-packs.js';
export { KnownZone } from './known-zone.js';
export { MAX_MEMBERS, MAX_TEAM_MEMBERS } from './member-limits.js';
export { type TeamRole, assertMayGrant, mayGrant } from './member.js';
export {
  AddToTeamBody,
  InviteBody,
  MEMBER_PARAM,
  MemberPage,
  MemberView,
  MembersQuery,
  RemovedMember,
  RoleBody,
  TeamRoleBody,
} from './members.dto.js';
export { newWorkspace } from './new-workspace.js';
export {
  ChangeNotifications,
  NotificationsView,
  type NotifyChoice,
  type ReportChoice,
  notificationsOf,
} from './notifications.dto.js';
export { InstalledPackView, ProfileOperator } from './profile.dto.js';
export { IsNoneOfOurs, lookAlike, passesForOurs } from './reserved-names.js';
export { FEWEST_DAYS, MOST_DAYS, RETENTION_DAYS, retentionOf } from './retention.dto.js';
export { SessionToken } from './session-token.js';
export { ChangeSettingsBody, QuietHours, SettingsView } from './settings.dto.js';
export { TeamOfRequest } from './team-of-request.js';
export {
  ArchiveTeamBody,
  ArchivedTeam,
  OpenWork,
  TEAM_PARAM,
  TeamBody,
  TeamPage,
  TeamView,
  TeamsQuery,
} from './teams.dto.js';
export { Teams } from './teams.repository.js';
export { TokensStopped } from './tokens-stopped.js';
export { NewToken, OutsideAgentView } from './tokens.dto.js';
export { Tokens } from './tokens.repository.js';
export { welcome } from './welcome.js';
export { WorkspaceView } from './workspace.dto.js';
export { WorkspaceEntity } from './workspaces.entity.js';
export { LimitReached, limitReached } from './workspaces.errors.js';
export { WorkspacesModule } from './workspaces.module.js';
export { type OperatorHours, type WorkspaceSettings, Workspaces } from './workspaces.repository.js';
