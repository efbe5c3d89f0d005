import type { Scope } from '../../platform/database/unit-of-work.js';

/**
 * Whose numbers and records a read shows: those of the whole workspace, of these teams, or, with none, of what belongs to no
 * team. {@link Audiences} says which a caller reads.
 */
export type Audience = Scope['teamIds'];

/** The team of which alone it is, as records carry it; null for all others. */
export function teamOf(audience: Audience): string | null {
  return audience !== 'all' && audience.length === 1 ? audience[0]! : null;
}
