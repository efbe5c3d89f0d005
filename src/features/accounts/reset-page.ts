import { escapeHtml, htmlPage } from '../../platform/http/page.js';

/** What the link shows: the form that sets a new password. No script, no style, nothing from elsewhere. */
export function resetPage(
  { email, expiresAt }: { email: string; expiresAt: number },
  faults: readonly string[] = [],
): string {
  return htmlPage(
    'Set a new password',
    `<p>For the account ${escapeHtml(email)}. The link works once, until ${new Date(expiresAt).toUTCString()}.</p>
${list(faults)}<form method="post">
<input type="hidden" name="username" autocomplete="username" value="${escapeHtml(email)}">
<p><label>New password, 10 characters or more<br>
<input name="newPassword" type="password" autocomplete="new-password" required minlength="10" maxlength="400"></label></p>
<p><button>Set this password</button></p>
</form>`,
  );
}

export function resetDonePage(): string {
  return messagePage(
    'Your password is set',
    'All sessions of your account have ended. Sign in with the new password; then you can close this page.',
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
