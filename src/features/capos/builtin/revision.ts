import { LIMITS } from '../action-params.js';
import type { Action } from '../action-types.js';
import type { DraftContent, DraftPacket, FeedbackRound, NeededInput } from '../briefing.js';
import { titleOf } from '../draft-output.js';
import { MailReader } from './mail.js';
import { ask } from './move.js';
import { oneLine, readText } from './text.js';

const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";
/** What a person edits most likely, by its name among the parameters. */
const TEXTS = ['body', 'directive', 'description', 'title'] as const;

/**
 * A subject, copies and a text, said as in a directive, are taken into the one mail or document that they can mean; everything
 * else comes back as it was, with people's edits in it, and asks.
 */
export function revise({ text, previous }: FeedbackRound): DraftContent {
  const packets: DraftPacket[] = previous.packets.map((packet) => ({
    title: packet.title,
    type: packet.type,
    params: structuredClone(packet.params),
    rationale: packet.rationale,
    target: '',
    multipliers: {},
    needsInput: (packet.needsInput ?? []).filter((each) => !isWish(each)),
  }));
  const [only, ...others] = packets.filter(({ params }) => typeof params['body'] === 'string');
  if (only && others.length === 0 && take(only, text))
    return { remarks: 'Changed as asked; the rest is as it was.', packets, concerns: [] };
  for (const { params, needsInput } of packets) {
    const name = TEXTS.find((each) => typeof params[each] === 'string') ?? 'amount';
    needsInput.push(ask(name, `${EDIT} The wish: “${text}”`));
  }
  const remarks = "Nothing was changed: the built-in runner doesn't rewrite. Please edit the draft.";
  return { remarks, packets, concerns: [] };
}

function take(packet: DraftPacket, text: string): boolean {
  const { type, params } = packet;
  const said = MailReader.readFields(readText(text));
  const isMail = type === 'email.send';
  if (!said || said.isEach || (!isMail && said.cc.length > 0) || (said.body?.length ?? 0) > LIMITS.mail)
    return false;
  const copies = [params['to'], params['cc']].flat().filter((each) => typeof each === 'string');
  if (said.cc.some((each) => copies.includes(each)) || copies.length + said.cc.length > LIMITS.recipients)
    return false;
  const heading = isMail ? 'subject' : 'title';
  if (said.subject !== undefined) params[heading] = oneLine(said.subject);
  if (said.body !== undefined) params['body'] = said.body;
  if (said.cc.length > 0) params['cc'] = [...((params['cc'] as string[] | undefined) ?? []), ...said.cc];
  packet.title = titleOf({ type, params } as unknown as Action);
  packet.needsInput = packet.needsInput.filter(
    ({ path }) =>
      !(path === `params.${heading}` && said.subject !== undefined) &&
      !(path === 'params.body' && said.body !== undefined),
  );
  return true;
}

const isWish = ({ message }: NeededInput) => message.startsWith(EDIT);
