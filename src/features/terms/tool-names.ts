/**
 * The names of tools that agents from outside act with (CONTRACT section 7), and the patterns by which tokens and standing orders
 * name several of them. Names are compared byte for byte.
 */

const TOOL_NAME = /^(?=.{1,255}$)[a-z][a-z0-9_-]{0,63}(?:\.[A-Za-z0-9_/-]{1,128}){0,7}$/;
/** Of our own action types: no tool may pass for one of them. */
export const RESERVED_SEGMENTS: readonly string[] = [
  'document',
  'signal',
  'email',
  'webhook',
  'http',
  'revenue',
  'directive',
  'standing_order',
];

/** Whether this can be the name of a tool. */
export function isToolName(name: string): boolean {
  return TOOL_NAME.test(name) && !RESERVED_SEGMENTS.includes(name.split('.', 1)[0]!);
}

/** Whether this is the name of a tool, or all names below a prefix of whole segments: `crm.*`. */
export function isToolPattern(pattern: string): boolean {
  return isToolName(pattern.endsWith('.*') ? pattern.slice(0, -2) : pattern);
}

/** Whether the pattern, or the name of an action type, names this one. */
export function namesAction(pattern: string, actionType: string): boolean {
  return pattern.endsWith('.*') ? actionType.startsWith(pattern.slice(0, -1)) : pattern === actionType;
}
