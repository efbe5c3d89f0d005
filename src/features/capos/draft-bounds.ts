import { lengthOf } from '../../platform/kernel/text-length.js';
import { LIMITS } from './action-params.js';
import type { DraftContent } from './briefing.js';

/** The largest draft of any runner: in characters of each text, and in bytes of UTF-8 altogether. */
export const DRAFT_BOUNDS = {
  remarks: 4_000,
  packets: 100,
  target: 500,
  rationale: 2_000,
  multipliers: 8,
  reason: 500,
  bytes: 1_000_000,
} as const;

/** A draft that no runner may hand over; the message is for the operator. */
export class DraftTooLarge extends Error {
  override readonly name = 'DraftTooLarge';
}

/** Throws {@link DraftTooLarge}. */
export function checkDraftBounds<T extends DraftContent>(draft: T): T {
  const { remarks, packets, concerns } = draft;
  const numbers = new Intl.NumberFormat('en');
  if (packets.length > DRAFT_BOUNDS.packets) {
    throw new DraftTooLarge(
      `The draft has ${numbers.format(packets.length)} work packets; at most ${DRAFT_BOUNDS.packets} are allowed.`,
    );
  }
  const texts: [name: string, text: string, limit: number][] = [
    ['remarks', remarks, DRAFT_BOUNDS.remarks],
    ...concerns.map(({ reason }): [string, string, number] => [
      'reason of a concern',
      reason,
      DRAFT_BOUNDS.reason,
    ]),
    ...packets.flatMap(({ title, target, rationale }): [string, string, number][] => [
      ['title of a work packet', title, LIMITS.title],
      ['target of a work packet', target, DRAFT_BOUNDS.target],
      ['rationale of a work packet', rationale, DRAFT_BOUNDS.rationale],
    ]),
    ...packets.flatMap(({ needsInput }) =>
      needsInput.map(({ message }): [string, string, number] => [
        'sentence on what a work packet lacks',
        message,
        DRAFT_BOUNDS.reason,
      ]),
    ),
  ];
  for (const [name, text, limit] of texts) {
    const length = lengthOf(text);
    if (length > limit) {
      throw new DraftTooLarge(
        `The ${name} has ${numbers.format(length)} characters; at most ${numbers.format(limit)} are allowed.`,
      );
    }
  }
  const bytes = Buffer.byteLength(JSON.stringify({ remarks, packets, concerns }));
  if (bytes > DRAFT_BOUNDS.bytes) {
    throw new DraftTooLarge(
      `The draft has ${numbers.format(bytes)} bytes; at most ${numbers.format(DRAFT_BOUNDS.bytes)} are allowed.`,
    );
  }
  return draft;
}
