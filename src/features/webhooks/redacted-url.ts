/** A destination as whoever decides about a post to it is shown it: its query may hold a credential. */
export function redactedUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + (pathname === '/' ? '' : pathname);
}
