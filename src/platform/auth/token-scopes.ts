import { Forbidden } from '../kernel/errors.js';

/** What a token can be limited to (CONTRACT section 5, Tokens); the member's role still decides within it. */
export const TOKEN_SCOPES = ['read', 'request', 'operate', 'decide', 'admin'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** Whose token may be limited; null: it is not. */
interface Limited {
  scopes: readonly TokenScope[] | null;
}

/** `decide` is part of no other: a token that acts or administers cannot approve what it has caused (docs/decisions/0043). */
const INCLUDED: Readonly<Record<TokenScope, readonly TokenScope[]>> = {
  read: ['read'],
  request: ['request'],
  operate: ['read', 'request', 'operate'],
  decide: ['read', 'decide'],
  admin: ['read', 'request', 'operate', 'admin'],
};

/** The scopes that include one of these. */
export function scopesWith(needed: readonly TokenScope[]): TokenScope[] {
  return TOKEN_SCOPES.filter((scope) => INCLUDED[scope].some((included) => needed.includes(included)));
}

/** @throws Forbidden unless the caller's token has one of these scopes, or all rights of its member */
export function assertScope({ scopes }: Limited, required: readonly TokenScope[]): void {
  if (scopes === null || scopes.some((scope) => required.includes(scope))) return;
  if (scopes.every((scope) => scope === 'request')) throw onlyRequests();
  const message = `This token is limited to ${scopes.join(', ')}, and this needs ${required.join(' or ')}.`;
  throw new Forbidden({ message, details: { requiredScopes: required } });
}

/**
 * The answer of every route that such a token may not call, whether or not there is such a route, so that an agent learns
 * nothing from it.
 */
function onlyRequests(): Error {
  return new Forbidden({
    message: 'This token can only ask: action requests, questions and proposals of tools.',
  });
}

/** @throws Forbidden for rights that the caller's own token lacks: nobody gives more than they have */
export function assertMayGrantScopes(caller: Limited, granted: readonly TokenScope[] | null): void {
  if (caller.scopes === null) return;
  const held = caller.scopes.flatMap((scope) => INCLUDED[scope]);
  if (granted?.flatMap((scope) => INCLUDED[scope]).every((scope) => held.includes(scope))) return;
  const message = `Your token is limited to ${caller.scopes.join(', ')}, so it cannot make or resume one with more rights.`;
  throw new Forbidden({ message, details: { requiredScopes: granted ?? TOKEN_SCOPES } });
}
