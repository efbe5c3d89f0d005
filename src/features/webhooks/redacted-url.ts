/** A destination as receipts and signals name it: its query may hold a credential, and they are read by many. */
export function redactedUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + (pathname === '/' ? '' : pathname);
}
