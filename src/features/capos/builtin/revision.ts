import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { DraftContent, DraftPacket, FeedbackRound, NeededInput } from '../briefing.js';
import type { DraftBuilder } from './draft-builder.js';
import { clean, oneLine, readText, type Text } from './text.js';
import { LABEL, ROLES } from './words.js';

const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";
/** What a person edits most likely, by its name among the parameters. */
const TEXTS = ['body', 'directive', 'description', 'title'] as const;
type Params = Record<string, unknown>;

/** Plain edits of the one work packet that they can mean; everything else comes back as it was, with people's edits in it. */
export function revise(draft: DraftBuilder, { text, previous }: FeedbackRound): DraftContent {
  const packets: DraftPacket[] = previous.packets.map((packet) => ({
    ...structuredClone(packet),
    target: '',
    multipliers: {},
    needsInput: stillNeeded(packet),
  }));
  const candidates = packets.filter(({ params }) => typeof params['body'] === 'string');
  const [only] = candidates;
  const isDone = only !== undefined && candidates.length === 1 && edit(only, readText(text));
  if (isDone) draft.remarks.push('Changed as asked; the rest is as it was.');
  else draft.remarks.push("Nothing was changed: the built-in runner doesn't rewrite. Please edit the draft.");
  for (const packet of isDone ? [] : packets) {
    const path = `params.${TEXTS.find((name) => typeof packet.params[name] === 'string') ?? 'amount'}`;
    packet.needsInput = [
      ...packet.needsInput.filter((each) => each.path !== path),
      { path, message: cutText(`${EDIT} The wish: “${oneLine(text)}”`, 500) },
    ];
  }
  draft.packets.push(...packets);
  return draft.finish();
}

function stillNeeded(packet: FeedbackRound['previous']['packets'][number]): NeededInput[] {
  const known = [...(packet.needsInput ?? [])];
  const to = packet.params['to'];
  const isAsked = known.some(({ path }) => path === 'params.to');
  if (!Array.isArray(to) || to.length > 0 || isAsked) return known;
  return [...known, { path: 'params.to', message: 'Who is to receive it?' }];
}

function edit(packet: DraftPacket, { text, masked, quotes, addresses }: Text): boolean {
  const { params } = packet;
  const settle = (name: string, value: unknown) => {
    params[name] = value;
    packet.needsInput = packet.needsInput.filter(({ path }) => path !== `params.${name}`);
    return true;
  };
  const label = LABEL.exec(text)?.groups;
  const value = text.slice(LABEL.exec(text)?.[0].length ?? 0).trim();
  const mentions = (word: RegExp) => word.test(masked);
  const field = packet.type === 'email.send' ? 'subject' : 'title';
  const isSubject =
    label?.['subject'] ??
    (mentions(/subject|betreff|objet|sujet|asunto|title|titel|titre|título/iu) || undefined);
  const [first, second] = quotes;
  const body = String(params['body']);
  if (isSubject !== undefined && (label?.['subject'] ? value : first) && !second) {
    return settle(field, cutText(oneLine(first?.text ?? value), LIMITS.title));
  }
  if (first && second && !mentions(/\uFDD1/)) {
    const [from, to] = body.includes(first.text) ? [first.text, second.text] : [second.text, first.text];
    return (
      body.includes(from) &&
      settle(
        'body',
        cutText(
          body.replaceAll(from, () => to),
          LIMITS.mail,
          '',
        ),
      )
    );
  }
  if (addresses.length > 0 && packet.type === 'email.send' && !first)
    return readdress(params, masked, addresses, settle);
  const said =
    first?.text ?? (label?.['body'] ? value : /^[^\n:]{1,60}[:：]\s+(.+)$/su.exec(text)?.[1]?.trim());
  if (!said || second || addresses.length > 0) return false;
  return settle('body', cutText(clean(said), LIMITS.mail, ''));
}

function readdress(
  params: Params,
  masked: string,
  addresses: Text['addresses'],
  settle: (name: string, value: unknown) => boolean,
): boolean {
  const given = [...new Set(addresses.map(({ text }) => text))];
  const list = (name: string) => (Array.isArray(params[name]) ? (params[name] as string[]) : []);
  const without = (name: string) => list(name).filter((each) => !given.includes(each));
  if (masked.search(ROLES.bcc) >= 0) return false;
  if (
    /(?<!\p{L})(?:remove|drop|without|not|entferne|streiche|ohne|nicht|retire|sans|quita|sin)(?!\p{L})/iu.test(
      masked,
    )
  ) {
    if (params['cc'] !== undefined) settle('cc', without('cc'));
    return without('to').length > 0 && settle('to', without('to'));
  }
  if (masked.search(ROLES.cc) >= 0)
    return settle('cc', [...without('cc'), ...given].slice(0, LIMITS.recipients));
  const isAdded =
    /(?<!\p{L})(?:add|also|too|as well|auch|zusätzlich|ajoute|aussi|añade|también)(?!\p{L})/iu.test(masked);
  return settle('to', [...(isAdded ? without('to') : []), ...given].slice(0, LIMITS.recipients));
}
