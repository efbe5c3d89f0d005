import { escapeHtml, htmlPage } from '../../platform/http/page.js';

/** A page of another site has led here, so the person must confirm the sign-in. */
export function beginPage(provider: string, start: string): string {
  return htmlPage(
    'Sign in to Consigliere',
    `<p class="text"><a href="${escapeHtml(start)}">Sign in with ${escapeHtml(provider)}</a></p>`,
  );
}

/** Somebody is signed in; `next` is where the browser goes on by itself, or null. */
export function signedInPage(displayName: string, next: string | null): string {
  const onward =
    next === null
      ? '<p class="text">You can close this page.</p>'
      : `<p class="text"><a href="${escapeHtml(next)}">Continue</a>, if this page does not do it by itself.</p>`;
  return htmlPage(
    'You are signed in',
    `<p class="text">You are signed in as ${escapeHtml(displayName)}.</p>\n${onward}`,
  );
}

/** Nobody is signed in; `again` is where the sign-in begins, or null where that is of no use. */
export function notSignedInPage(message: string, again: string | null): string {
  const link = again === null ? '' : `\n<p class="text"><a href="${escapeHtml(again)}">Sign in again</a></p>`;
  return htmlPage('You are not signed in', `<p class="text">${escapeHtml(message)}</p>${link}`);
}
