const NAME = /^[a-z][a-z0-9_-]{0,63}(?:\.[A-Za-z0-9_/-]{1,128}){0,7}$/;
const MAX_LENGTH = 255;

/** A tool as agents name it (CONTRACT section 7): up to eight segments with dots between; compared byte for byte. */
export function isToolName(text: string): boolean {
  return text.length <= MAX_LENGTH && NAME.test(text);
}

/**
 * A tool, or with `.*` behind whole segments every tool that begins with them: `crm.*` is `crm.contacts.delete`, and neither
 * `crm` nor `crmx.delete`. A lone `*` is none: a token names what its agent may ask for.
 */
export function isToolPattern(text: string): boolean {
  if (!text.endsWith('.*')) return isToolName(text);
  // One more segment stands in the place of the star.
  return text.length <= MAX_LENGTH && NAME.test(`${text.slice(0, -1)}x`);
}

/** Whether one of the patterns is this tool, or begins it. */
export function allowsTool(patterns: readonly string[], tool: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('.*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern,
  );
}
