import { CAPO_ROLES, CAPOS } from '../capo.js';
import { inAnyCase } from '../text-facts.js';

/** The words that the built-in runner knows, in English, German, French and Spanish. None is ever written into a mail. */

/** Any of the phrases as whole words, in whatever case, as the source of an expression; a space stands for any white space. */
const word = ({ raw: [list = ''] }: TemplateStringsArray) => anyOf(list);
const anyOf = (list: string) => {
  const phrases = inAnyCase(list.trim().split(/\s*,\s*/));
  return String.raw`(?<![\p{L}\p{N}])(?:${phrases.replaceAll(' ', String.raw`\s+`)})(?![\p{L}\p{N}])`;
};
const within = (list: TemplateStringsArray) => new RegExp(word(list), 'u');
const one = (parts: TemplateStringsArray, ...sources: string[]) =>
  new RegExp(String.raw(parts, ...sources), 'u');
/** At one place. */
const at = (parts: TemplateStringsArray, ...sources: string[]) =>
  new RegExp(String.raw(parts, ...sources), 'yu');
const all = (parts: TemplateStringsArray, ...sources: string[]) =>
  new RegExp(String.raw(parts, ...sources), 'gu');

const AND_WORD = word`and, und, et, y, as well as, sowie`;
const TO = word`to, an, à, a, para`;
const THE = word`the, this, that, a, an, our, my, die, der, das, dem, den, diese, eine, einen, le, la, un, une, ce, cet, el, una, este, su`;

const VERB = word`email, e-mail, mail, send, write, message, tell, inform, notify, remind, ask, answer, reply, respond, forward, let, thank, warn, invite, contact,
  drop, shoot, ping, write back, follow up with, get back to, apologise to, apologize to, congratulate, compose, draft, prepare, schreib, schreibe,
  schreiben, schick, schicke, schicken, sende, senden, maile, mailen, sag, sage, sagen, informiere, informieren, antworte, antworten, erinnere, frag,
  frage, benachrichtige, teile, écris, écrivez, écrire, envoie, envoyez, envoyer, dis, dites, réponds, répondez, préviens, prévenez, informez, demande,
  rappelle, remercie, escribe, escriba, escribir, envía, envíe, enviar, manda, mande, mándale, responde, avisa, dile, recuerda`;
const NOUN = word`e-mail, email, mail, message, note, line, reply, answer, reminder, invitation, following, following mail, following email, following message,
  following text, text, nachricht, antwort, erinnerung, einladung, folgendes, folgende mail, folgende nachricht, courriel, mot, rappel, réponse, message
  suivant, correo, mensaje, recordatorio, siguiente, mensaje siguiente`;

/** What stands politely before an instruction, between two of them, and before the entry of a list. */
export const LEAD = at`(?:[\s,;.!&–—•*-]|(?:\(?\d{1,2}[.)])\s|${word`please, pls, plz, kindly, can you, could you, would you, will you, can u, i want you to, i need you to, i'd like you to, i would like you to, go ahead
  and, just, now, then, also, and, next, first, second, third, finally, hi, hello, hey, good morning, morning, hi there, consigliere, thanks, thank you,
  thx, cheers, many thanks, thanks a lot, thank you very much, in advance, bitte, kannst du, könntest du, können sie, könnten sie, mal, und, auch, dann,
  hallo, guten morgen, guten tag, danke, vielen dank, peux-tu, pouvez-vous, pourrais-tu, pourriez-vous, s'il te plaît, s'il vous plaît, stp, svp, merci,
  bonjour, et, puis, aussi, puedes, podrías, puede, por favor, hola, buenos días, gracias, y, luego, también`}|(?:here (?:are|is) )?(?:my |some |two |three |a few |zwei |drei )?(?:e-?mails?|things|tasks|to-?dos?|dinge)(?: for today| please| today)?:)*`;

const Q = String.raw`\uFDD0*[\uFDD0\uFDD3](?![\uFDD0\uFDD3])`;
const ADDRESS = String.raw`[<(\[]?\uFDD1+(?!\uFDD1)[>)\]]?`;
const NAME = String.raw`(?:\p{Lu}[\p{L}'’.-]*\s+){1,4}`;
/** "jane@...", "Jane Doe <jane@...>", "Jane at jane@...", "the plumber (rob@...)" */
const PERSON = String.raw`(?:(?:${word`the, our, my`}\s+\p{Ll}+\s+)(?:${NAME})?(?=[<(])|${NAME}(?:${word`at`}\s+|(?=[<(])))?${ADDRESS}`;
const LIST = String.raw`(?:${word`both`}\s+)?${PERSON}(?:(?:\s*[,;&+]\s*|\s+(?=${AND_WORD}))(?:${AND_WORD}\s+)?(?:${TO}\s+)?${PERSON})*`;
const OBJECT_BEHIND = String.raw`(?:${THE}\s+)?(?:${word`short, quick, brief, new, friendly, nice, kurze, petit`}\s+)?(?:${NOUN}|${word`this, it, das`})`;
const OBJECT = String.raw`(?:${OBJECT_BEHIND}\s+)?`;
/** Behind these, or two verbs, an address may be one that is only spoken of. */
const UNSURE = word`of, from, by, about, regarding, concerning, on, if, when, unless, not, never, except, but, without, instead, that, who, whom, whose, with, whether,
  and, or, cc, bcc, von, über, wegen, ohne, nicht, außer, dass, ob, und, oder, de, du, des, sur, sans, sauf, pas, que, et, ou, sobre, sin, no, y, o,
  salvo`;
/** The verb and the addresses. */
export const MAIL_HEAD = at`(?:${VERB}\s+(?:(?<quote>${Q})\s+${TO}\s+|${OBJECT}(?:${TO}[\s:]+)?|(?:(?!${UNSURE}|${VERB})[^\s:,;.!?\uFDD0-\uFDD3]+\s+){0,8}?(?:${TO}|${word`for, für, pour`})\s+)|${TO}[\s:]+(?=[^\n]*\uFDD1)|(?=\uFDD1))(?<list>${LIST})(?!['’-])(?:\s+${OBJECT_BEHIND})?`;
/** The verb and somebody without an address. */
export const MAIL_NAMED = at`${VERB}\s+${OBJECT}(?:${TO}\s+)?(?<name>(?!${UNSURE})(?:[\p{L}'’.-]+\s?){1,5}?)(?=\s*(?:[:：,]|\uFDD0))`;
/** Asks for a mail, without an address or a text. */
export const MAIL_DESCRIBED = at`${word`email, e-mail, mail, remind, inform, notify, thank, tell, let, invite, schreib, schreibe, erinnere, écris, préviens, escribe, avisa`}\s+(?!${word`me, us, mir, uns, moi, nous`})\p{L}|(?:${VERB}\s+)(?:\p{L}+\s+){0,3}(?:${word`email, e-mail, mail, message, reply, reminder, invitation, nachricht, courriel, correo`}|${TO}\s+\p{Lu})|${word`send, drop`}\s+(?:\p{L}+\s+){1,3}${word`note, line`}`;
/** The whole of an instruction whose mail stands in its context. */
export const MAIL_IN_CONTEXT = at`${VERB}(?:\s+(?!${UNSURE}|${VERB}|${word`each, every, all, everybody, everyone`})[\p{L}-]+){0,6}[\s.!]*$`;
/** Somebody else may be meant besides the addresses before it. */
export const SOMEBODY_ELSE = at`['’]|\s*(?:[,&]|${AND_WORD}|${word`or, oder, ou, o`})\s*(?:${TO}\s+)?(?:${word`my, our, the, her, his, their, all, meine, unsere, alle, mon, ma, mi`}\s|\p{Lu}|\uFDD1)`;
export const MAIL_VERB = new RegExp(VERB, 'gu');

export const BETWEEN = at`(?:[\s,;.()–—-]|${word`and, with, und, mit, et, avec, y, con, the, dem, der, le, el`}|[aA]\s)*`;
const SUBJECT = String.raw`${word`subject line, subject, betreff, objet, sujet, asunto`}`;
const TEXT = word`saying, say, says, that says, saying this, telling her, telling him, telling them, text, body, message, msg, content, following, following text,
  following message, know, this, this text, this message, an email, a mail, a message, an email saying, a line, write, sagt, folgendes, folgendem text,
  text, inhalt, nachricht, folgende nachricht, disant, en disant, texte, ceci, ce message, message, le message suivant, diciendo, texto, mensaje, esto,
  lo siguiente, dem text, le texte, el texto`;
const MARKED = String.raw`(?:${word`and, with, the, und, mit, dem, et, avec, le, y, con, el`}\s+)*${TEXT}`;
export const FIELDS = {
  quotedSubject: at`${SUBJECT}\s*(?:[:：=]|${word`is, of, reads, lautet`})?\s*(?<value>${Q})|(?<value>${Q})\s+${word`as, als, comme, como`}\s+(?:${THE}\s+)?${SUBJECT}`,
  /** To the end of its line, or to where the text is marked. */
  subject: at`${SUBJECT}\s*[:：=]\s*(?<value>[^\n\uFDD0-\uFDD3]+?)(?=\s*\n|[\s,;.]+${MARKED}\s*(?:[:：=]|${Q}))|${SUBJECT}\s+(?!${word`to, re, fwd, fw, aw, wg`})(?<plain>(?:(?!\s${AND_WORD})[^\n:：,;.\uFDD0-\uFDD3])+?)(?=[\s,;.]+${MARKED}\s*(?:[:：=]|${Q})|\s*[:：]\s)`,
  bcc: at`${word`bcc, blind copy, blindkopie`}\s*[:：]?\s*(?:${TO}\s+)?(?<list>${LIST})`,
  cc: at`(?:${word`in cc, cc, copy, in copy, kopie, in kopie, copie, en copie, copia`}\s*[:：]?\s*(?:${TO}\s+)?(?<list>${LIST})|(?<list>${LIST})\s+${word`in cc, in copy, on copy, on cc, as cc, in kopie, in cc, en copie, en cc, en copia`})`,
  each: at`${word`individually, separately, each, one by one, einzeln, getrennt, séparément, individuellement, por separado`}`,
} as const;
export const EACH = new RegExp(FIELDS.each.source, 'u');
export const TEXT_MARK = at`[\s,;.–—-]*(?:${MARKED}\s*){1,3}${word`is, reads, lautet`}\s*(?=\uFDD0|\uFDD3)|[\s,;.–—-]*(?:${MARKED}\s*){0,3}(?<colon>[:：]?)[ \t]*`;
export const QUOTE = at`\s*(?<value>${Q})`;
/** Where subject or copies may stand behind the text. */
export const LABEL = all`(?<=[.!?,;:)\n\uFDD3]\s{0,5})(?:${word`with, and, mit, und, avec, et, con, y`}\s+)?(?:${SUBJECT}|${word`cc, bcc`})`;

export const COPY_WORD = all`(?<=[\s,;(])(?=${SUBJECT}|${word`cc, bcc, copy, kopie, copie, copia, with, mit, avec, con`})`;
export const TO_SENTENCE_END = /[^\n]*?(?:[.!?…\uFDD3]+(?=\s|$)|(?=\n)|$)/uy;

/** Another instruction, in the same sentence. */
export const AND_MAIL = one`\s${AND_WORD}\s+(?=${VERB}\s)`;
/** Says that something is not to be done, not yet, or not in this way. */
export const HELD = within`don't, don’t, dont, do not, never, not yet, unless, only if, only when, only after, only once, before you, before sending, once i, once he, once she,
  once they, when i, after i, until i, until he, until she, until they, as soon as, ask me, show me, let me see, let me check, let me read, let me
  review, let me approve, check with me, wait for, hold it, hold this, my approval, my okay, my ok, for review, scratch that, never mind, forget that,
  actually no, no wait, nicht senden, nicht schicken, nicht abschicken, noch nicht, erst wenn, erst nach, nur wenn, bevor du, bevor sie, sobald, frag
  mich, doch nicht, vergiss das, meine freigabe, n'envoie pas, n'envoyez pas, pas encore, seulement si, sauf si, avant d'envoyer, dès que, demande-moi,
  oublie ça, no envíes, no lo envíes, todavía no, solo si, antes de enviar, en cuanto, pregúntame, olvida eso`;
const ACT = word`record, book, raise, call, file, schedule, attach, delete, pay, post`;
/** Within a text without quotation marks: perhaps the next instruction. */
export const NEXT = one`(?:^|[.!?…\n,;]\s*|\s${AND_WORD}\s)(?:${word`also, then, and then, and also, afterwards, auch, außerdem, dann, danach, puis, ensuite, aussi, luego, también, después`}[\s,]+)(?:${word`please, bitte`}\s+)?(?:${VERB}|${ACT})|(?:^|[.!?…\n]\s*)(?:${word`attach, send it, send this, send the mail, mail it, sign it`})`;
/** How an instruction begins, to be asked back about. What somebody wants to be told themselves is a question. */
export const INSTRUCTION = at`(?:${VERB}|${ACT}|${word`add, arrange, create, log, publish, register, save`})(?=\s+[\p{L}\p{N}\p{P}\p{S}\uFDD0-\uFDD3])(?!\s+${word`me, us, mir, uns, moi, nous`})`;
export const NEGATED = within`don't, don’t, dont, do not, never, not, no, nothing, nobody, nicht, nichts, kein, keine, keinen, niemals, ne, n', pas, rien, jamais, nunca, nada,
  ningún`;
/** Asks something, and asks for no mail. */
export const QUESTION = /^[^\n]*\?\s*$/u;
export const IF = within`if, unless, when, once, as soon as, after, until, tomorrow, wenn, falls, sobald, morgen, si, quand, demain, cuando, mañana`;

export const RECORD = at`${word`record, log, register, verbuche, buche, erfasse, trage, enregistre, enregistrez, comptabilise, registra, anota`}`;
export const SOURCE = all`${word`from, von, vom, de la part de, de, du`}\s+(?<name>[^\s\d,;:()\uFDD0-\uFDD3](?:(?!\s${word`for, as, on, via, by, to, in, and, today, yesterday, für, per, als, am, und, heute, gestern, pour, le, comme, et, para, por, el, y`})[^,;:()\n\uFDD0-\uFDD3.!?]|\.(?=\S)){0,80})`;
export const SIGNAL = at`(?:${word`raise, create, open, log, send, lege, erstelle, melde, lance, crea`}\s+)?(?:${word`a, an, new, ein, eine, einen, un, une, una`}\s+)*(?:(?<severity>${word`critical, warning, info, kritisches, critique, crítica`})\s+)?(?<noun>${word`signal, alert, warning, warnung, alarm, alerte, señal`})(?:\s+${word`signal`})?\s*[:：]\s*`;
export const DOCUMENT = at`(?:${word`write, file, save, add, make, create, draft, prepare, schreibe, erstelle, lege, rédige, crée, redacta, crea`}\s+)?(?:${THE}\s+)?(?:${word`document, memo, note, report, dokument, notiz, vermerk, documento, nota`})(?<about>[^\n:：.!?\uFDD0\uFDD1\uFDD3]{0,80})(?<title>${Q})?\s*(?<colon>[:：])?\s*`;
const REPORT_NOUN = word`report, overview, summary, status, briefing, brief, figures, numbers, brief me, where we stand, bericht, tagesbericht, überblick, übersicht,
  zusammenfassung, rapport, bilan, résumé, aperçu, informe, resumen`;
/** Asks for what the workspace counted. */
export const FIGURES = at`(?:${word`write, file, make, prepare, give, show, send, get, need, i need, me, us, gib, zeig, mir, uns, donne, montre, dame, the, a, an, my, our, short, quick,
  strategic, daily, weekly, morning, einen, eine, un, une`}\s+)*(?:${REPORT_NOUN}|${word`what came in, how many, how much, wie viele, wie viel, combien, cuánto, cuántos, cuántas`}(?=[^\n]*${word`revenue, income, sales, earn, approvals, signals, alerts, buyers, orders, came in, waiting, pending, umsatz, freigaben, signale, chiffre, revenus,
  approbations, ingresos, ventas, aprobaciones`}))`;
export const FIGURES_ONLY = within`revenue, income, sales, approvals, signals, alerts, buyers, orders, work, umsatz, freigaben, signale, revenus, approbations, ingresos, aprobaciones`;
const CAPO_NAMES = CAPO_ROLES.filter((role) => role !== 'ceo')
  .map(
    (role) =>
      `(?<${role}>${anyOf(CAPOS[role].aliases.map((alias) => alias.replace(/^the /, '')).join(', '))})`,
  )
  .join('|');
export const CAPO_NAME = new RegExp(CAPO_NAMES, 'gu');
/** "Ask ops to ...", "..., and have marketing ..." */
export const DELEGATES = all`(?:^|(?<=[.;,!\n]\s{0,3}|\s${AND_WORD}\s))(?:${word`please, bitte, also, then, and`}[\s,]+)*${word`ask, have, tell, get, let, delegate to, hand to`}\s+(?:${word`the, our`}\s+)?(?:${CAPO_NAMES})(?:\s+${word`team`})?(?!['’\w-])[\s:,]*(?:${word`to`}\s+(?!${word`not, never`}))?`;
/** At the end of a text: it is signed. */
export const SIGN_OFF = within`regards, best, best wishes, sincerely, cheers, yours, thanks, thank you, grüße, gruß, grüßen, mfg, lg, vg, cordialement, bien à vous, salutations,
  merci, saludos, atentamente, un abrazo, gracias`;
/** Nothing by itself. */
export const PLEASANTRY =
  /^[\s\p{P}]*(?:(?:thanks|thank you|thx|cheers|hi|hello|hey|there|good morning|please|a lot|so much|very much|many|in advance|danke|vielen|dank|schon mal|im voraus|hallo|guten morgen|viele grüße|merci|d'avance|beaucoup|bonjour|gracias|muchas|hola|buenos días)[\s\p{P}]*)+$/iu;
/** Where a message begins that somebody else wrote. */
export const PASTED =
  /^[ \t]*(?:-{3,}|>|(?:begin forwarded|original|forwarded|weitergeleitete|ursprüngliche) (?:message|nachricht)|(?:from|von|de)[ \t]*:[^\n]*\uFDD1)/imu;
