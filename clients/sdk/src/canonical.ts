/**
 * RFC 8785: one text for one value. Numbers and strings are written as JSON.stringify writes them, which is what the RFC demands.
 * @throws TypeError for what JSON cannot hold
 */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
  }
  const text = Number.isFinite(value) || typeof value !== 'number' ? JSON.stringify(value) : undefined;
  if (text === undefined || (typeof value === 'string' && !value.isWellFormed())) {
    throw new TypeError(`${String(value)} cannot stand in JSON`);
  }
  return text;
}

/** SHA-256 of the canonical form, in lower-case hex. */
export async function hashOf(value: unknown): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(value)));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
