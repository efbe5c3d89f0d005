import { escapeHtml, faultList, htmlPage } from '../../platform/http/page.js';
import { inWords } from '../../platform/kernel/local-day.js';
import type { AcceptedInvite } from './invites.dto.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteContext } from './invites.repository.js';

/** What the link shows: who invites whom to what, and the form that accepts. */
export function invitePage(
  invite: InviteEntity & InviteContext,
  {
    faults = [],
    displayName = invite.inviteeName ?? '',
  }: { faults?: readonly string[]; displayName?: string } = {},
): string {
  const { invitedBy, workspaceName, teamName, role, email, expiresAt, timezone } = invite;
  const where = teamName === null ? workspaceName : `the team ${teamName} in ${workspaceName}`;
  return htmlPage(
    `Join ${workspaceName}`,
    `<p class="text">${escapeHtml(invitedBy.name)} invites ${escapeHtml(email)} to ${escapeHtml(where)}, as ${role}.</p>
<p class="text">The link works once, until ${inWords(expiresAt, timezone)}.</p>
${faultList(faults)}<form method="post">
<label>Your name<br><input name="displayName" autocomplete="name" required maxlength="80" value="${escapeHtml(displayName)}"></label>
<label>Password, 10 characters or more; if you have an account with this address already, its password<br>
<input name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="200"></label>
<button>Accept</button>
</form>`,
  );
}

/** Says that the invite is accepted, and shows the member's token; no other page or answer shows it again. */
export function welcomePage({ workspaceName, token }: AcceptedInvite): string {
  if (token === null) {
    return htmlPage(
      `Welcome to ${workspaceName}`,
      '<p class="text">You have joined. <a class="reference" href="/">Sign in, with a second factor, to go on.</a></p>',
    );
  }
  return htmlPage(
    `Welcome to ${workspaceName}`,
    `<p class="text">You have joined. <a class="reference" href="/">Sign in to read what waits for you</a></p>
<p class="text">This is your operator token, which nobody else has seen; it is shown only now, so keep it:</p>
<p class="text"><code>${escapeHtml(token.token)}</code></p>
<p class="text">With it you can use the API; then you can close this page.
<a class="reference" href="/docs">How to use the API</a></p>`,
  );
}
