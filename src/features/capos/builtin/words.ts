import { CAPO_ROLES, CAPOS } from '../capo.js';
import { inAnyCase } from '../text-facts.js';

/** The words that the built-in runner knows: English ones, and the few that a mail needs in German, French and Spanish. */

/** Any of the phrases as whole words, in whatever case, as the source of an expression; a space stands for any white space. */
const word = ({ raw: [list = ''] }: TemplateStringsArray) => anyOf(list.trim().split(/\s*,\s*/));
const anyOf = (list: readonly string[]) => {
  const phrases = inAnyCase(list).replaceAll(/\s+/g, String.raw`\s+`);
  return String.raw`(?<![\p{L}\p{N}])(?:${phrases})(?![\p{L}\p{N}])`;
};
const at = (parts: TemplateStringsArray, ...sources: string[]) =>
  new RegExp(String.raw(parts, ...sources), 'yu');
const anywhere = (parts: TemplateStringsArray, ...sources: string[]) =>
  new RegExp(String.raw(parts, ...sources), 'gu');

const AND = word`and, und, et, y`;
const TO = word`to, an, à, a, para`;
const VERB = word`email, e-mail, mail, send, write, message, tell, inform, notify, remind, ask, answer, reply, respond, forward, let, thank, invite, schreib, schreibe, schick, schicke, sende, écris, écrivez, envoie, envoyez, escribe, envía, manda`;
const NOUN = word`e-mail, email, mail, message, note, line, reply, answer, reminder, following, below, this, it, nachricht, courriel, correo`;
const POLITE = word`please, pls, thanks, thank you, thx, cheers, hi, hello, hey, good morning, a lot, so much, very much, many, in advance, bitte, danke, hallo, merci, bonjour, gracias, hola, por favor, s'il te plaît, s'il vous plaît`;
/** Nothing by itself. */
export const PLEASANTRY = new RegExp(String.raw`^[\s\p{P}]*(?:${POLITE}[\s\p{P}]*)+$`, 'u');
/** What stands before an instruction, between two of them, and before the entry of a list. */
export const LEAD = at`(?:[\s,;.!&–—•*-]|\(?\d{1,2}[.)]\s|${POLITE}|${AND}|${word`can you, could you, would you, will you, kannst du, können sie, just, now, then, also, first, next, finally`}|(?:[\p{L}\p{N}]+\s){0,3}${word`mails, emails, e-mails, things, tasks`}(?:\s${POLITE})?:)*`;
const Q = String.raw`\uFDD0*[\uFDD0\uFDD3](?![\uFDD0\uFDD3])`;
/** "jane@...", "Jane Doe <jane@...>", "the plumber (rob@...)" */
const PERSON = String.raw`(?:(?:${Q}\s*|${word`the, our, my`}\s+\p{Ll}+\s+|(?:\p{Lu}[\p{L}'’.-]*\s+){1,4})(?=[<(]))?[<(\[]?\uFDD1+(?!\uFDD1)[>)\]]?`;
const LIST = String.raw`${PERSON}(?:(?:\s*[,;&]\s*|\s+(?=${AND}))(?:${AND}\s+)?(?:${TO}\s+)?${PERSON})*`;
const OBJECT = String.raw`(?:${word`the, this, a, an, eine, un, une`}\s+)?(?:${word`short, quick, friendly`}\s+)?${NOUN}`;
export const ENTRY = /^([ \t]*)(?:[-*•–]|\(?\d{1,2}[.)])\s/gmu;
/** The verb and the addresses. */
export const MAIL_HEAD = at`(?:${VERB}\s+(?:${OBJECT}\s+)?(?:${TO}[\s:]+)?|${TO}[\s:]+|(?=${LIST}\s*[:：]))(?<list>${LIST})(?!['’-])(?:\s+${OBJECT})?`;
/** The verb and somebody without an address. */
export const MAIL_NAMED = at`${VERB}\s+(?:${OBJECT}\s+)?(?:${TO}\s+)?(?<name>(?!${word`the, a, an, me, us, my, that, if, about, not`})(?:[\p{L}'’.-]+\s?){1,4}?)(?:\s*${OBJECT})?(?=\s*[:：,]|\s*\uFDD0)`;
/** Asks for a mail, without an address or a text. */
export const MAIL_DESCRIBED = at`${word`email, e-mail, mail, remind, inform, notify, thank, invite, let`}\s+(?!${word`me, us`})\p{L}|${VERB}\s+(?:\p{L}+\s+){0,4}${word`email, e-mail, mail, message, reply, reminder, invitation, note to`}|${word`write to, schreib an`}\s+\p{L}|${word`send, drop`}\s+(?:\p{L}+\s+){1,3}${word`note, line`}`;
/** The whole of an instruction whose mail stands in its context. */
export const MAIL_IN_CONTEXT = at`${VERB}\s+(?:${OBJECT}|the\s+\p{L}+)(?:\s+out)?(?:\s+to\s+(?:the|this|our|my)\s+\p{L}+)?(?:\s+(?:now|${POLITE}))*[\s.!]*$`;
/** Asks what the workspace does not know, or forbids a mail: neither asks for one. */
export const NO_MAIL = at`${word`don't, don’t, dont, do not, never, nicht`}|${word`did, does, do, has, have, had, is, are, was, were, what, whats, which, who, when, where, why, how`}[^]*[?]`;
export const BETWEEN = at`(?:[\s,;.()–—-]|${AND}|${word`with, the, mit, dem, avec, le, con, el`})*`;
const SUBJECT = word`subject, betreff, objet, asunto`;
const MARKED = String.raw`(?:${AND}\s+)?(?:${word`with, the, mit, dem, avec, le, con, el`}\s+)*${word`saying, say, says, that says, text, body, message, msg, texte, texto`}`;
export const TEXT_MARK = at`[\s,;.–—-]*(?:${MARKED}\s*)?(?:${word`is`}\s*(?=[\uFDD0\uFDD3]))?(?<colon>[:：]?)[ \t]*`;
export const QUOTE = at`\s*(?<value>${Q})`;
export const SUBJECT_QUOTED = at`${SUBJECT}\s*(?:[:：=]|${word`is`})?\s*(?<value>${Q})`;
/** To the end of its line, or to where the text begins. */
export const SUBJECT_PLAIN = at`${SUBJECT}\s*[:：=]\s*(?<line>[^\n\uFDD0-\uFDD3]+?)(?=\s*\n|[\s,;.]+${MARKED}\s*(?:[:：]|${Q}))|${SUBJECT}\s+(?!${word`to, re, fwd, fw, aw, wg`})(?<plain>[^\n:：,;.\uFDD0-\uFDD3]+?)(?=\s*[:：]\s|[\s,;.]+(?:${MARKED}\s*)?${Q})`;
export const COPIES = at`${word`cc, bcc, copy, in kopie, kopie, en copie, copie, copia`}\s*[:：]?\s*(?:${TO}\s+)?(?<list>${LIST})`;
export const EACH = at`${word`individually, separately, each`}`;
export const EACH_WITHIN = new RegExp(EACH.source, 'u');
/** Where subject or copies may stand behind a text. */
export const LABEL = anywhere`(?<=[.!?,;:)\n\uFDD3]\s{0,5})(?:${word`with, and, mit, und`}\s+)?(?:${SUBJECT}|${word`cc, bcc, copy, kopie`})`;
export const TO_SENTENCE_END = /[^\n]*?(?:[.!?…\uFDD3]+(?=\s|$)|(?=\n)|$)/uy;
/** Says, perhaps, that something is not to be done, not yet, or only under a condition. */
export const HELD = anywhere`${word`don't, don’t, dont, do not, never, not yet, if he, if she, if they, unless, only, before, once, until, as soon as, when i, after i, ask me, show me, let
  me, with me, wait for, wait until, hold it, hold this, hold on, hang on, my approval, my ok, my okay, for review, scratch, never mind, forget, actually, nicht, erst, bevor, sobald, frag mich, vergiss,
  meine freigabe, pas, avant, dès que, seulement, sauf si, demande-moi, no lo, todavía, antes, en cuanto, solo si`}`;
const ACT = word`record, book, raise, call, file, schedule, attach, delete, pay, post, sign`;
/** Within a text without quotation marks: perhaps the next instruction. */
export const NEXT = anywhere`(?:^|[.!?…\n]\s*)(?:${POLITE}[\s,]+)?(?:(?:${VERB}|${ACT})\s|[^\p{L}]*${word`also, then, next, afterwards, außerdem, dann, ensuite, luego, también`})|[,;]\s*${word`then, and then, and also`}|\s${AND}\s+(?:${word`then, also`}|${VERB}\s+\uFDD1)`;
/** How an instruction begins, to be asked back about. What somebody wants to be told themselves is a question. */
export const INSTRUCTION = at`${LEAD.source}(?:${VERB}|${ACT}|${word`add, arrange, create, log, publish, register, save`})(?=\s+[\p{L}\p{N}\p{P}\p{S}\uFDD0-\uFDD3])(?!\s+${word`me, us, mir, uns, moi, nous`})`;
/** Where a message begins that somebody else wrote. */
export const PASTED =
  /^[ \t]*(?:-{3,}|>|(?:begin forwarded|original|forwarded|weitergeleitete|ursprüngliche) (?:message|nachricht)|(?:from|von|de)[ \t]*:[^\n]*\uFDD1)/imu;
/** At the end of a text: it is signed. */
export const SIGN_OFF = anywhere`${word`regards, best, best wishes, sincerely, cheers, yours, thanks, thank you, grüße, gruß, grüßen, cordialement, bien à vous, merci, saludos, atentamente, gracias`}`;
export const RECORD = at`${word`record, log, register, verbuche`}`;
export const AND_MAIL = anywhere`\s${AND}\s+(?=${VERB}\s)`;
export const SOURCE = anywhere`${word`from, von, vom`}\s+(?<name>[^\s\d,;:()\uFDD0-\uFDD3](?:(?!\s${word`for, as, on, via, by, to, in, and, today, yesterday`})[^,;:()\n\uFDD0-\uFDD3.!?]|\.(?=\S)){0,80})`;
export const PERHAPS = anywhere`${word`if, when, tomorrow, not, no, nothing, wenn, falls, morgen, nicht`}|${HELD.source}`;
export const SIGNAL = at`${word`raise, create, open, log`}\s+(?:${word`a, an, new`}\s+)?(?:(?<severity>${word`critical, warning, info`})\s+)?(?:${word`signal, alert`}|(?<noun>${word`warning`}))\s*[:：]\s*`;
export const DOCUMENT = at`(?:${word`write, file, save, add, make, create, draft, prepare`}\s+)?(?:${word`a, an, the, this, our, my`}\s+)?${word`document, memo, note, report`}[^\n:：.!?\uFDD0\uFDD1\uFDD3]{0,80}(?<title>${Q})?\s*(?<colon>[:：])?\s*`;
const FIGURE = word`revenue, income, sales, earn, approvals, signals, alerts, buyers, orders, work, came in, waiting, pending, where we stand, hours, today, yesterday, day, week, month`;
/** Asks for what the workspace counted, and for nothing else. */
export const FIGURES = at`(?:${word`write, file, make, prepare, give, show, send, get, i need, need, me, us, a, an, the, my, our, short, quick, daily, weekly, morning`}\s+)*(?:${word`report, overview, summary, status, briefing, brief me`}(?=[^\n]{0,300}${FIGURE}|[\s.!?]*$)|${word`how many, how much`}(?=[^\n]{0,300}${FIGURE}))[^\n:：\uFDD1]*(?:[:：](?=[^\n]{0,300}${FIGURE})[^\n\uFDD1]{0,120})?\s*$`;
const CAPO = anyOf(CAPO_ROLES.filter((role) => role !== 'ceo').flatMap((role) => CAPOS[role].aliases));
export const CAPO_NAMES = anywhere`${CAPO}`;
/** "Ask ops to ...", "..., and have marketing ..." */
export const DELEGATES = anywhere`(?:^|(?<=[.;,!\n]\s{0,3}|\s${AND}\s))(?:(?:${POLITE}|${AND}|${word`also, then`})[\s,]+)*${word`ask, have, tell, get, let`}\s+(?:${word`the, our`}\s+)?(?<capo>${CAPO})(?:\s+${word`team`})?(?!['’\w-])[\s:,]*(?:${word`to`}\s+(?!${word`not, never`}))?`;
