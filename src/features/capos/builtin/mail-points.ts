import type { Assignment } from './assignment.js';
import { mentions } from './document.js';
import { pointsOf, type Point } from './mail-content.js';
import type { MailRequest } from './mail-request.js';
import { plain, quotedInline, sentencesOf, withoutStop } from './text.js';

export interface PointsFor {
  points: Point[];
  /** Text that the mail announces and nobody supplied. */
  missingText: string[];
  notes: string[];
}

/** What a mail says: the instruction's points, text supplied with the directive, and the changes asked for. */
export function pointsFor({ briefing, edits }: Assignment, request: MailRequest): PointsFor {
  const notes: string[] = [];
  const given = textGiven(briefing.directive.context);
  const missingText: string[] = [];
  let points = request.points.flatMap((point): Point[] => {
    // Nobody asks all customers when it would suit them to talk.
    if (point.act === 'topic' && request.to.some(({ generic, plural }) => generic && plural))
      return [{ ...point, act: 'inform-of' }];
    if (point.act !== 'share') return [point];
    const thing = THING_BEFORE.test(point.text.trim()) ? 'the result' : withoutStop(point.text);
    if (given !== null) return [{ act: 'enclose', text: thing }];
    missingText.push(unsupplied(thing));
    return [{ act: 'share', text: thing }];
  });
  if (given !== null) points.push({ act: 'verbatim', text: given });
  for (const drop of edits.drops) {
    const kept = points.flatMap((point) => withoutMention(point, drop));
    if (JSON.stringify(kept) === JSON.stringify(points))
      notes.push(`Nothing in it mentioned “${quotedInline(drop, 80)}”.`);
    else points = kept;
  }
  return { points: [...points, ...edits.additions.flatMap(additionPoints)], missingText, notes };
}

/** "summarise the notes and email them to Ada" */
const THING_BEFORE = /^(?:it|them|this|that|these|those)\b/i;

function unsupplied(what: string): string {
  return what === 'the result'
    ? 'The mail is to carry what another part makes: file that first, then hand it over in the context as `text`.'
    : `The mail is to carry ${what}, which nobody supplied: put it in the context as \`text\`.`;
}

/** Keys by which an operator hands over the text itself; any other context is for the capo's eyes only. */
function textGiven(context: Readonly<Record<string, unknown>> | null): string | null {
  for (const key of ['body', 'message', 'text', 'content']) {
    const value = context !== null && Object.hasOwn(context, key) ? context[key] : undefined;
    if (typeof value === 'string' && /[\p{L}\p{N}]/u.test(plain(value))) return plain(value);
  }
  return null;
}

function withoutMention(point: Point, drop: string): Point[] {
  if (!mentions(point.text, drop)) return [point];
  const sentences = sentencesOf(point.text).filter((each) => !mentions(each, drop));
  if (sentences.length > 0) return [{ ...point, text: sentences.join(' ') }];
  // "the demo moved to Friday and the price stays": one half may go without the other.
  const halves = point.text.split(/,?\s+(?:and|but)\s+(?=(?:the|our|your|we|it|there|that|I)\b)/i);
  const kept = halves.filter((half) => !mentions(half, drop));
  return kept.length > 0 && kept.length < halves.length
    ? [{ ...point, text: kept.join(' and ').replace(/^that\s+/i, '') }]
    : [];
}

/** "add that the price stays", "mention the discount", "ask whether Friday suits" */
function additionPoints(text: string): Point[] {
  const bare = text.replace(
    /^(?:an?|the|one|another)\s+(?:sentence|line|paragraph|note|question|remark)\s+(?:saying|asking|about|on|with|that)\s+/i,
    (lead) => (/question|asking/i.test(lead) ? 'ask about ' : /that|saying/i.test(lead) ? 'that ' : ''),
  );
  const points = pointsOf(bare, 'tell');
  const [first] = points;
  const isNoun = first?.act === 'share' || (first?.act === 'state' && !/\s/.test(first.text.trim()));
  return isNoun ? [{ act: 'state', text: `please also note ${first.text}` }, ...points.slice(1)] : points;
}
