import { cutText } from '../../../platform/kernel/text.js';
import type { ActionTypeName } from '../action-types.js';
import type { NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { oneLine } from './text.js';

/** A work packet, as far as the instruction gives it. */
export interface Move {
  type: ActionTypeName;
  params: Record<string, unknown>;
  /** What a person has to say. */
  asked: NeededInput[];
}

export const ask = (name: string, message: string): NeededInput => ({
  path: `params.${name}`,
  message: cutText(oneLine(message), DRAFT_BOUNDS.reason),
});

/** Where the expression, which is sticky, stands in the text at this place. */
export function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at;
  return expression.exec(text) ?? undefined;
}
