import { escapeHtml, htmlPage } from '../../platform/http/page.js';
import type { AcceptedInvite } from './invites.dto.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteContext } from './invites.repository.js';

/** What the link shows: who invites whom to what, and the form that accepts. No script, no style, nothing from elsewhere. */
export function invitePage(
  invite: InviteEntity & InviteContext,
  {
    faults = [],
    displayName = invite.inviteeName ?? '',
  }: { faults?: readonly string[]; displayName?: string } = {},
): string {
  const { invitedBy, workspaceName, teamName, role, email, expiresAt } = invite;
  const where = teamName === null ? workspaceName : `the team ${teamName} in ${workspaceName}`;
  return htmlPage(
    `Join ${workspaceName}`,
    `<p>${escapeHtml(invitedBy.name)} invites ${escapeHtml(email)} to ${escapeHtml(where)}, as ${role}.</p>
<p>The link works once, until ${new Date(expiresAt).toUTCString()}.</p>
${list(faults)}<form method="post">
<p><label>Your name<br><input name="displayName" autocomplete="name" required maxlength="80" value="${escapeHtml(displayName)}"></label></p>
<p><label>Password, 10 characters or more; if you have an account with this address already, its password<br>
<input name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="200"></label></p>
<p><button>Accept</button></p>
</form>`,
  );
}

/** Says that the invite is accepted, and shows the member's token; no other page or answer shows it again. */
export function welcomePage({ workspaceName, token }: AcceptedInvite): string {
  if (token === null) {
    return messagePage(
      `Welcome to ${workspaceName}`,
      'You have joined. Sign in, with a second factor, to go on.',
    );
  }
  return htmlPage(
    `Welcome to ${workspaceName}`,
    `<p>You have joined. This is your operator token, which nobody else has seen; it is shown only now, so keep it:</p>
<p><code>${escapeHtml(token.token)}</code></p>
<p>With it you can use the <a href="/docs">API</a>. Then you can close this page.</p>`,
  );
}

/** A page that says one thing. */
export function messagePage(title: string, message: string): string {
  return htmlPage(title, `<p>${escapeHtml(message)}</p>`);
}

function list(faults: readonly string[]): string {
  if (faults.length === 0) return '';
  return `<ul role="alert">${faults.map((fault) => `<li>${escapeHtml(fault)}</li>`).join('')}</ul>\n`;
}
