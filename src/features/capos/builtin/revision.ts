import { LIMITS } from '../action-params.js';
import type { DraftContent, DraftPacket, FeedbackRound } from '../briefing.js';
import { SaidMail } from './mail.js';
import { ask, titleOfMove } from './move.js';
import { readText } from './text.js';

const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";

/**
 * A subject, copies and a text, said as in a directive, are taken into the one mail or document that they can mean; everything
 * else comes back as it was, with people's edits in it, and asks.
 */
export function revise({ text, previous }: FeedbackRound): DraftContent {
  const packets = previous.packets.map(
    ({ title, type, params, rationale, needsInput = [] }): DraftPacket => ({
      ...{ title, type, params: structuredClone(params), rationale, target: '', multipliers: {} },
      needsInput: needsInput.filter(({ message }) => !message.startsWith(EDIT)),
    }),
  );
  const [only, ...others] = packets.filter(({ params }) => typeof params['body'] === 'string');
  const isTaken = only !== undefined && others.length === 0 && take(only, text);
  for (const { params, needsInput } of isTaken ? [] : packets) {
    const name = ['body', 'directive', 'description'].find((each) => typeof params[each] === 'string');
    needsInput.push(ask(name ?? 'amount', `${EDIT} The wish: “${text}”`));
  }
  const remarks = isTaken
    ? 'Changed as asked; the rest is as it was.'
    : "Nothing was changed: the built-in runner doesn't rewrite. Please edit the draft.";
  return { remarks, packets, concerns: [] };
}

function take(packet: DraftPacket, text: string): boolean {
  const said = SaidMail.fieldsOf(readText(text));
  const isMail = packet.type === 'email.send';
  const { to = [], cc: copies = [] } = packet.params as { to?: string[]; cc?: string[] };
  const { subject, body, cc = [], isEach } = said ?? {};
  const isTwice = [...to, ...copies].some((each) => cc.includes(each));
  const isTooMuch = (body?.length ?? 0) > LIMITS.mail || copies.length + cc.length > LIMITS.recipients;
  if (!said || isEach || (!isMail && cc.length > 0) || isTwice || isTooMuch) return false;
  const given: Record<string, unknown> = {
    ...(subject !== undefined && { [isMail ? 'subject' : 'title']: subject }),
    ...(body !== undefined && { body }),
  };
  Object.assign(packet.params, given, cc.length > 0 && { cc: [...copies, ...cc] });
  packet.title = titleOfMove(packet);
  packet.needsInput = packet.needsInput.filter(({ path }) => !(path.slice('params.'.length) in given));
  return true;
}
