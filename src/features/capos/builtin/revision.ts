import { cutText } from '../../../platform/kernel/text.js';
import type { Action } from '../action-types.js';
import type { DraftContent, DraftPacket, FeedbackRound, NeededInput } from '../briefing.js';
import { titleOf } from '../draft-output.js';
import type { DraftBuilder } from './draft-builder.js';
import { nextChange } from './plain-changes.js';
import { RevisedPacket } from './revised-packet.js';
import { oneLine, readText } from './text.js';
import { SUBJECT } from './words.js';

const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";
/** What a person edits most likely, by its name among the parameters. */
const TEXTS = ['body', 'directive', 'description', 'title'] as const;

/**
 * Plain edits of the one work packet that they can mean, and only where every part of the wish is one; everything else comes
 * back as it was, with people's edits in it.
 */
export function revise(draft: DraftBuilder, { text, previous }: FeedbackRound): DraftContent {
  const packets: DraftPacket[] = previous.packets.map((packet) => ({
    ...structuredClone(packet),
    target: '',
    multipliers: {},
    needsInput: stillNeeded(packet),
  }));
  const candidates = packets.filter(({ params }) => typeof params['body'] === 'string');
  const [only] = candidates;
  const left = only !== undefined && candidates.length === 1 ? follow(only, text) : text;
  if (left === undefined) draft.remarks.push('Changed as asked; the rest is as it was.');
  else {
    draft.remarks.push("Nothing was changed: the built-in runner doesn't rewrite. Please edit the draft.");
    for (const packet of packets) {
      const path = pathOf(packet, left);
      packet.needsInput = [
        ...packet.needsInput.filter((each) => each.path !== path || !isWish(each)),
        { path, message: cutText(`${EDIT} The wish: “${oneLine(text)}”`, 500) },
      ];
    }
  }
  draft.packets.push(...packets);
  return draft.finish();
}

/** Changes the packet, or leaves it alone and answers the part of the wish that it didn't understand or could not follow. */
function follow(packet: DraftPacket, text: string): string | undefined {
  const wish = readText(text);
  const revised = new RevisedPacket(packet);
  let from = 0;
  for (let isFirst = true; ; isFirst = false) {
    const change = nextChange(wish, from, revised);
    // Nothing but thanks is no wish.
    if (change === 'end' && !isFirst) break;
    if (typeof change === 'string') return wish.text.slice(from);
    from = change.end;
  }
  const rest = revised.addressLeft();
  if (rest !== undefined) return rest;
  const { params, supplied } = revised;
  packet.params = params;
  packet.title = titleOf({ type: packet.type, params } as unknown as Action);
  packet.needsInput = packet.needsInput.filter((each) => !isWish(each) && !supplied.has(each.path));
  return undefined;
}

const isWish = ({ message }: NeededInput) => message.startsWith(EDIT);

/** The parameter that this part of the wish is about. */
function pathOf({ type, params }: DraftPacket, part: string): string {
  const { masked } = readText(part);
  const isMail = type === 'email.send';
  const recipients = masked.search(
    /\uFDD1|(?<!\p{L})(?:b?cc|recipients?|empfänger|kopie|destinataires?|copie|destinatarios?|copia)(?!\p{L})/iu,
  );
  const heading = masked.search(SUBJECT);
  if (isMail && recipients >= 0 && (heading < 0 || recipients < heading)) return 'params.to';
  if (isMail && heading >= 0) return 'params.subject';
  return `params.${TEXTS.find((name) => typeof params[name] === 'string') ?? 'amount'}`;
}

function stillNeeded(packet: FeedbackRound['previous']['packets'][number]): NeededInput[] {
  const known = [...(packet.needsInput ?? [])];
  const to = packet.params['to'];
  const isAsked = known.some(({ path }) => path === 'params.to');
  if (!Array.isArray(to) || to.length > 0 || isAsked) return known;
  return [...known, { path: 'params.to', message: 'Who is to receive it?' }];
}
