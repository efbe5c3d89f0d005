const REDACTED = '[redacted]';

/**
 * A text of somebody else without these secrets, in the ways in which a service may repeat them: as they are, within JSON,
 * within a URL, and in base64.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const spellings = [...new Set(secrets.flatMap(spellingsOf))].toSorted((a, b) => b.length - a.length);
  return spellings.reduce((rest, spelling) => rest.replaceAll(spelling, REDACTED), text);
}

function spellingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inBase64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    inJson,
    inJson.replaceAll('/', String.raw`\/`),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll('%20', '+'),
    inBase64,
    inBase64.replaceAll('/', String.raw`\/`),
    inBase64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}
