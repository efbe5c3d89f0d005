import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { Briefing, DraftContent } from '../briefing.js';
import { CAPOS, type CapoRole } from '../capo.js';
import { moneyIn } from '../money.js';
import { SECRETS } from '../danger-words.js';
import { capoByWords } from '../vocabulary.js';
import { capoNamed, kindOf } from './ask-kinds.js';
import { type Ask, asksOf, MAX_ASKS } from './asks.js';
import { DraftBuilder } from './draft-builder.js';
import { prepareRevenue, prepareSignal, refuseNegative } from './ledger.js';
import { prepareMail } from './mail.js';
import { prepareOutside } from './outside.js';
import { prepareDocument } from './report.js';
import { revise } from './revision.js';
import { meant } from './people.js';
import { clean, oneLine, READABLE, readText, within } from './text.js';
import * as words from './words.js';

/** What the built-in runner makes of an instruction: nothing is worded, turned or made up. */
export function draftFrom(briefing: Briefing): DraftContent {
  const { text } = briefing.directive;
  const whole = readText(withoutOwnName(cutText(clean(text), READABLE, ''), briefing.directive.capo));
  const draft = new DraftBuilder(briefing, whole);
  if (text.length > READABLE) draft.remarks.push(`Only the first ${READABLE} characters were read.`);
  const round = briefing.feedback.at(-1);
  if (round && round.previous.packets.length > 0) return revise(draft, round);
  const sentence: Ask = { start: 0, end: whole.text.length, headEnd: whole.text.length, kind: 'unclear' };
  if (prepareOutside(draft, sentence)) return draft.finish();
  const asks = asksOf(whole);
  for (const ask of asks) prepare(draft, ask);
  if (asks.length === MAX_ASKS)
    draft.remarks.push(
      `Only the first ${MAX_ASKS} asks were read, up to “${cutText(oneLine(draft.words(asks.at(-1)!)), 80)}”.`,
    );
  if (round) draft.remarks.push("The built-in runner doesn't rewrite: please edit the draft.");
  return draft.finish();
}

/** "Delegate to product: ..." is for Product itself what stands behind it. */
function withoutOwnName(text: string, capo: CapoRole): string {
  const named = capoNamed(text);
  if (named?.capo !== capo || named.isSubject || /[^\s\p{L}]/u.test(text.slice(0, named.end))) return text;
  const rest = text.slice(named.end).replace(/^[\s,:–-]*(?:(?:to|that they|should|must)\s+)?/iu, '');
  return rest === '' || words.at(text, words.DELEGATES) > 0 ? text : rest;
}

function prepare(draft: DraftBuilder, ask: Ask): void {
  const head = draft.whole.masked.slice(ask.start, ask.headEnd);
  if (ask.kind === 'document' && ask.said && namesContact(draft, head)) ask.kind = 'mail';
  const said = cutText(oneLine(draft.words(ask)), 120);
  if (isNegated(ask, head)) {
    draft.remarks.push(`“${said}” says what not to do; nothing was prepared for it.`);
    return;
  }
  const isSecret =
    ask.kind === 'mail' && !ask.said && !/[\uFDD0\uFDD3]/.test(head) && words.at(head, SECRETS) >= 0;
  if (isSecret) {
    draft.unable('send secrets', ask);
    return;
  }
  switch (ask.kind) {
    case 'mail':
      return draft.can('email.send')
        ? prepareMail(draft, ask)
        : handOver(draft, ask, capoByWords(head, MAILERS) ?? 'capo_ops');
    case 'revenue':
      return draft.can('revenue.record') ? prepareRevenue(draft, ask) : handOver(draft, ask, 'capo_revenue');
    case 'delegation':
      return handOver(draft, ask, capoNamed(head)?.capo ?? 'capo_ops');
    case 'signal':
      return prepareSignal(draft, ask);
    case 'document':
      return prepareDocument(draft, ask);
    case 'unable':
      return draft.unable(
        words.UNABLE.find(({ asked }) => words.at(head, asked) >= 0)?.does ?? 'do that',
        ask,
      );
    case 'unclear':
      if (words.PLEASANTRY.test(head)) return;
      if (words.NEGATIVE.test(draft.words(ask)) && moneyIn(draft.words(ask).replace(/[-−]/g, ' ')).length > 0)
        return refuseNegative(draft, ask);
      draft.remarks.push(`Not acted on: “${said}”`);
      if (words.at(head, words.ROLES.cc) >= 0 || words.SEQUENCE.test(head) || words.TOO.test(head))
        draft.doubt(within(ask, draft.whole.addresses));
  }
}

/** "Write Anna: ..." is a mail where somebody is called so. */
function namesContact({ contacts }: DraftBuilder, head: string): boolean {
  const named = /(?<!\p{L})write\s+(?:to\s+)?(?<name>\S+(?:\s\S+){0,2})\s*$/iu.exec(head)?.groups?.['name'];
  return named !== undefined && meant(named, contacts.people).length > 0;
}

const MAILERS: readonly CapoRole[] = ['capo_ops', 'capo_revenue', 'capo_marketing'];

/** "Don't email ...", "schick nichts an ..." */
function isNegated({ kind }: Ask, head: string): boolean {
  if (kind !== 'mail') return false;
  const verb = words.at(head, words.MAIL);
  const end = words.at(head, words.DESCRIBES);
  const before = verb < 0 ? head : head.slice(Math.max(0, verb - 60), verb);
  return words.NEGATED.test(before) || words.NEGATED_AFTER.test(head.slice(0, end < 0 ? head.length : end));
}

/** To the capo whose work it is: as a directive where this capo may hand work on, else as a document that says so. */
function handOver(draft: DraftBuilder, ask: Ask, capo: CapoRole): void {
  const text = draft.words(ask);
  const { name } = CAPOS[capo];
  const named =
    ask.kind === 'delegation' ? capoNamed(draft.whole.masked.slice(ask.start, ask.headEnd)) : undefined;
  const rest =
    named && !named.isSubject
      ? draft
          .words({ start: ask.start + named.end, end: ask.end })
          .replace(/^[\s,:–-]*(?:(?:to|that they|should|must)\s+)?/iu, '')
      : text;
  const directive = cutText(rest || text, LIMITS.directive);
  if (capo === draft.capo.role && named && !named.isSubject) {
    const own = { ...ask, start: ask.start + named.end };
    const kind = kindOf(draft.whole.masked.slice(own.start, own.headEnd));
    return prepare(draft, { ...own, kind: kind === 'delegation' ? 'unclear' : kind });
  }
  if (capo === draft.capo.role && named) draft.remarks.push(`Not acted on: “${cutText(oneLine(text), 120)}”`);
  else if (draft.can('directive.create') && capo !== 'ceo') {
    draft.add({
      title: `Directive for ${name}`,
      type: 'directive.create',
      target: capo,
      params: { directive, capo },
      ask,
    });
  } else {
    const title = cutText(`For ${name}: ${oneLine(text)}`, LIMITS.title);
    const body = `${draft.capo.name} can't do this; it is for ${name}. Hand it in again for ${name}:\n\n${text}`;
    draft.add({
      title,
      type: 'document.file',
      target: title,
      params: { title, body: cutText(body, LIMITS.document) },
      ask,
    });
  }
}
