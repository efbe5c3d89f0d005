export { InviteView } from './invites.dto.js';
export { Invites } from './invites.repository.js';
export { type Inviter, IssueInvite, WithdrawInvites } from './invites.service.js';
export { Rejoin } from './accept-invite.js';
export { INVITE_MAIL } from './send-invite-mail.js';
export { TeamsModule } from './teams.module.js';
