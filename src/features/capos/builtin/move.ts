import { cutText } from '../../../platform/kernel/text.js';
import type { Action, ActionTypeName } from '../action-types.js';
import type { NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { titleOf } from '../draft-output.js';
import { oneLine } from './text.js';

export interface Move {
  type: ActionTypeName;
  params: Record<string, unknown>;
  asked: NeededInput[];
}

export const ask = (name: string, message: string): NeededInput => ({
  path: `params.${name}`,
  message: cutText(oneLine(message), DRAFT_BOUNDS.reason),
});

export const titleOfMove = ({ type, params }: { type: string; params: object }) =>
  titleOf({ type, params } as unknown as Action);
