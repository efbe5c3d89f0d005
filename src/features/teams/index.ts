export { InviteView } from './invites.dto.js';
export { Invites } from './invites.repository.js';
export { type Inviter, InviteService } from './invites.service.js';
export { AcceptInvite } from './accept-invite.js';
export { INVITE_MAIL } from './send-invite-mail.js';
export { TeamsModule } from './teams.module.js';
