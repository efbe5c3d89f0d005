import { Forbidden } from '../../platform/kernel/errors.js';

/**
 * The names of tools that agents from outside act with (CONTRACT section 7), and the patterns by which tokens and standing orders
 * name several of them. Names are compared byte for byte.
 */
export const TOOL_NAME = /^(?=.{1,255}$)[a-z][a-z0-9_-]{0,63}(\.[A-Za-z0-9_/-]{1,128}){0,7}$/;

/**
 * The first segments of our own action types: no tool of an agent may look like one of them. The registry of action types lies in a
 * higher feature; a test holds the two against each other.
 */
export const RESERVED_SEGMENTS: ReadonlySet<string> = new Set([
  'directive',
  'document',
  'email',
  'http',
  'revenue',
  'signal',
  'standing_order',
  'webhook',
]);

/** Whether this can be the name of a tool, one of our own action types included. */
export function isToolName(name: string): boolean {
  return TOOL_NAME.test(name);
}

export function isReservedToolName(name: string): boolean {
  return RESERVED_SEGMENTS.has(name.split('.', 1)[0]!);
}

/**
 * A tool of an agent, or with `.*` behind whole segments every tool that begins with them: `crm.*` is `crm.contacts.delete`, and
 * neither `crm` nor `crmx.delete`. A lone `*` is none: a token names what its agent may ask for.
 */
export function isToolPattern(pattern: string): boolean {
  // One more segment stands in the place of the star.
  const name = pattern.endsWith('.*') ? `${pattern.slice(0, -1)}x` : pattern;
  return isToolName(name) && !isReservedToolName(name);
}

/** Whether the pattern, or the name of an action type, names this one. */
export function namesAction(pattern: string, actionType: string): boolean {
  return pattern.endsWith('.*') ? actionType.startsWith(pattern.slice(0, -1)) : pattern === actionType;
}

/** @throws Forbidden for a tool that the token of an agent does not name */
export function assertTokenNames({ tools }: { tools: readonly string[] | null }, tool: string): void {
  if (tools === null || tools.some((pattern) => namesAction(pattern, tool))) return;
  throw new Forbidden({ message: `This token may not ask for ${tool}.`, details: { tools } });
}
