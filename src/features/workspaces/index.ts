export { TokenService, SessionToken, TokensStopped } from './token.service.js';
export { AskBody, AskedQuery, AskedView, NewToken, OutsideAgentView } from './tokens.dto.js';
export { AskingToken, TeamOfRequest, TooManyPending } from './asking-token.js';
export {
  AddToTeamBody,
  assertMayGrant,
  InviteBody,
  MAX_MEMBERS,
  MAX_TEAM_MEMBERS,
  mayGrant,
  MEMBER_PARAM,
  MemberPage,
  MembersQuery,
  MemberView,
  RemovedMember,
  RoleBody,
  type TeamRole,
  TeamRoleBody,
} from './members.dto.js';
export { type Audience, teamOf, Audiences } from './audiences.js';
export {
  AutonomyMode,
  InstalledPacks,
  KnownZone,
  OWNER_SETTINGS,
  WorkspaceService,
} from './workspace.service.js';
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
export { Devices, type OperatorHours, type WorkspaceSettings, Workspaces } from './workspaces.repository.js';
export { FirstRun, newWorkspace, welcome } from './first-run.js';
export {
  ChangeNotifications,
  NotificationsView,
  type NotifyChoice,
  type ReportChoice,
  notificationsOf,
} from './notifications.dto.js';
export {
  ChangeSettingsBody,
  FEWEST_DAYS,
  InstalledPackView,
  MOST_DAYS,
  ProfileOperator,
  QuietHours,
  RETENTION_DAYS,
  retentionOf,
  SettingsView,
  WorkspaceView,
} from './workspace.dto.js';
export { IsNoneOfOurs, lookAlike, passesForOurs } from './reserved-names.js';
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
export { Tokens } from './tokens.repository.js';
export { WorkspaceEntity } from './workspaces.entity.js';
export { LimitReached, limitReached } from './workspaces.errors.js';
export { WorkspacesModule } from './workspaces.module.js';
