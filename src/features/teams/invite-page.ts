import { escapeHtml, faultList, htmlPage } from '../../platform/http/page.js';
import { inWords } from '../../platform/kernel/local-day.js';
import type { AcceptedInvite } from './invites.dto.js';
import { rolesOffered } from './invite.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteContext } from './invites.repository.js';

/** What the link shows: who invites whom to what, and the form that accepts. */
export function invitePage(
  invite: InviteEntity & InviteContext,
  {
    faults = [],
    displayName = invite.inviteeName ?? '',
    signedInAs,
  }: { faults?: readonly string[]; displayName?: string; signedInAs?: string | undefined } = {},
): string {
  const { invitedBy, workspaceName, teamName, email, expiresAt, timezone } = invite;
  const where = teamName === null ? workspaceName : `the team ${teamName} in ${workspaceName}`;
  return htmlPage(
    `Join ${workspaceName}`,
    `<p class="text">${escapeHtml(invitedBy.name)} invites ${escapeHtml(email)} to ${escapeHtml(where)}. ${rolesOffered(invite)}</p>
<p class="text">The link works once, until ${inWords(expiresAt, timezone)}.</p>
${signedInAs === undefined ? '' : `<p class="text">This browser is signed in as ${escapeHtml(signedInAs)}. Accepting signs it in as ${escapeHtml(email)} instead.</p>`}
${faultList(faults)}<form method="post">
<label>Your name<br><input name="displayName" autocomplete="name" required maxlength="80" value="${escapeHtml(displayName)}"></label>
<label>Password, 10 characters or more; if you have an account with this address already, its password<br>
<input name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="200"></label>
<label class="confirm"><input name="wantsToken" type="checkbox"> I also want a token, with which programs of mine use the API</label>
<button>Accept</button>
</form>`,
  );
}

/** Says that the invite is accepted, and shows the token that the member asked for; no other page or answer shows it again. */
export function welcomePage(
  { workspaceName, token }: AcceptedInvite,
  signedInAs: string | undefined,
): string {
  return htmlPage(
    `Welcome to ${workspaceName}`,
    `<p class="text">You have joined.${signedInAs === undefined ? '' : ` This browser is signed in as ${escapeHtml(signedInAs)} now.`}</p>
<p class="text"><a class="link" href="/">${signedInAs !== undefined ? 'Open your inbox' : 'Sign in'}</a></p>
${token === null ? '' : tokenDetails(token.token)}`,
  );
}

function tokenDetails(token: string): string {
  return `<p class="text">Your token for programs. Nobody else has seen it, and it is shown only now, so keep it:</p>
<p class="text"><code>${escapeHtml(token)}</code></p>
<p class="text"><a class="reference" href="/docs">How to use the API</a></p>`;
}
