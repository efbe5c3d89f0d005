import type { StandingOrderMatch } from '../standing-orders/index.js';
import type { Suggestion } from './suggestion.js';
import type { SuggestedOrder } from './suggestions.dto.js';

export function suggestedOrderOf({ name, text, rule }: Suggestion): SuggestedOrder {
  const { teamId, capos, effect, match, limits } = rule;
  return {
    name,
    text,
    teamId,
    capos: capos && [...capos],
    effect,
    // The rule's lists are read-only; a view's are not, and nothing changes a view.
    match: match as StandingOrderMatch,
    limits: limits ?? {},
  };
}
