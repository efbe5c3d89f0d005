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

/** What a writer leaves for somebody else to fill in, such as `[Name]`, `{{date}}`, `<insert price>` or TODO. */
const PLACEHOLDERS = [
  // A link of Markdown, a box to tick, a footnote and [sic] are none.
  /\[(?!\s*\]|x\]|\d+\]|sic\]|\^)[^[\]\n]{1,80}\](?![([:])/giu,
  /\{\{[^{}\n]{0,80}\}\}/g,
  /\$\{[^{}\n]{1,80}\}/g,
  /(?<![{$])\{[\p{L}_][\p{L}\p{N}_ .-]{0,60}\}/gu,
  /<<[^<>\n]{1,80}>>/g,
  /(?<!<)<(?:insert|your|enter|add|fill|name|first|last|full|date|time|amount|price|company|recipient|customer|client|address|placeholder|number|link|url|einfügen|nom|datum)\b[^<>\n]{0,80}>/giu,
  /%[A-Z][A-Z_]{2,40}%/g,
  /_{4,}/g,
  // In capitals only: the Spanish "todo" is a word.
  /\b(?:TODO|TBD|TBA|TBC|FIXME|PLACEHOLDER|XXX+)\b/g,
  /\blorem ipsum\b/gi,
];

/** The placeholders of a text, as they stand there. */
export function placeholdersIn(text: string): string[] {
  const found = PLACEHOLDERS.flatMap((pattern) => text.match(pattern) ?? []);
  return [...new Set(found)];
}
