export { InviteView } from './invites.dto.js';
export { Invites } from './invites.repository.js';
export { type Inviter, IssueInvite } from './issue-invite.js';
export { Rejoin } from './rejoin.js';
export { INVITE_MAIL } from './send-invite-mail.js';
export { TeamsModule } from './teams.module.js';
export { WithdrawInvites } from './withdraw-invites.js';
