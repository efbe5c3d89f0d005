/** A destination as the approver of a post sees it: its query may hold a credential. */
export function redactedUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + (pathname === '/' ? '' : pathname);
}
