import { escapeHtml, faultList, htmlPage } from '../../platform/http/page.js';
import { inWords } from '../../platform/kernel/local-day.js';

/** What the link shows: the form that sets a new password. */
export function resetPage(
  { email, expiresAt }: { email: string; expiresAt: number },
  faults: readonly string[] = [],
): string {
  return htmlPage(
    'Set a new password',
    `<p class="text">For the account ${escapeHtml(email)}. The link works once, until ${inWords(expiresAt, 'UTC')}.</p>
${faultList(faults)}<form method="post">
<input hidden readonly name="username" autocomplete="username" value="${escapeHtml(email)}">
<label>New password, 10 characters or more<br>
<input name="newPassword" type="password" autocomplete="new-password" required minlength="10" maxlength="400"></label>
<button>Set this password</button>
</form>`,
  );
}

export function resetDonePage(): string {
  return htmlPage(
    'Your password is set',
    `<p class="text">All sessions of your account have ended.
<a class="reference" href="/">Sign in with the new password</a></p>`,
  );
}
