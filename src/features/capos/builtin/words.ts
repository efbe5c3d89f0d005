import { CAPO_ROLES, CAPOS } from '../capo.js';
import { inAnyCase } from '../text-facts.js';

/** The words that the built-in runner knows. Any of the phrases as whole words, in whatever case, as the source of an expression; a space stands for any white space. */
const word = ({ raw: [list = ''] }: TemplateStringsArray) => anyOf(list.trim().split(/\s*,\s*/));
const anyOf = (list: readonly string[]) =>
  String.raw`(?:(?<![\p{L}\p{N}])(?:${inAnyCase(list).replaceAll(/\s+/g, String.raw`\s+`)})(?![\p{L}\p{N}]))`;
const at = (parts: TemplateStringsArray, ...of: string[]) => new RegExp(String.raw(parts, ...of), 'yu');
const anywhere = (parts: TemplateStringsArray, ...of: string[]) => new RegExp(String.raw(parts, ...of), 'gu');

const AND = word`and, und, sowie, et, y`;
const TO = word`to, an, à, a, para`;
const SEND = word`sned, emial, eamil, emal, mial, email, e-mail, mail, send, forward, schick, schicke, schicken, sende, senden, envoie, envoyer, envoyez, envía, enviar, envíe, manda, mandar, mande`;
const VERB = `(?:${SEND}|${word`wirte, wrtie, tlel, write, message, tell, inform, notify, remind, ask, answer, reply, respond, let, thank, invite, antworte, antworten, maile, kontaktiere, envíale, mándale, escríbele, contacte, schreib, schreibe, schreiben, sag, sage, frag, frage, informiere, erinnere, écris, écrire, écrivez, réponds, répondez, informe, informez, préviens, escribe, escribir, escriba, responde, informa, avisa`})`;
const US = word`us, me, uns, mir, nous, nos, moi`;
const THEM = word`him, her, them, it, this, that, ihm, ihn, ihr, ihnen`;
const NOUN = word`emial, eamil, emal, e-mail, emails, email, mails, mail, message, messages, note, line, reply, answer, reminder, apology, invitation, thank-you, thank you, heads-up, update, following, below, this, that, it, one, das, dies, folgendes, ça, ceci, esto, text, nachricht, antwort, erinnerung, entschuldigung, einladung, courriel, mot, correo electrónico, réponse, rappel, correo, mensaje, respuesta, recordatorio`;
const THANKS = word`please, pls, kindly, quickly, have a nice day, have a good day, schönen tag, bonne journée, asap, right away, immediately, word for word, verbatim, wort für wort, mot pour mot, tal cual, thanks, thank you, thx, cheers, a lot, so much, very much, many, in advance, bitte, danke, merci, gracias, por favor, s'il te plaît, s'il vous plaît, s’il te plaît, s’il vous plaît, stp, svp`;
const TIME = word`today, tonight, tomorrow, tmrw, later, next, this, monday, tuesday, wednesday, thursday, friday, saturday, sunday, week, month, year, daily, weekly, monthly, regular, recurring, scheduled, delayed, january, february, march, april, june, july, august, september, october, november, december, heute, morgen, montag, dienstag, mittwoch, donnerstag, freitag, samstag, sonntag, woche, demain, lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche, semaine, mañana, lunes, martes, miércoles, jueves, viernes, sábado, domingo, semana`;
const POLITE = `(?:${THANKS}|${word`hi, hello, hey, good morning, good afternoon, good evening, morning, hallo, guten morgen, guten tag, moin, servus, bonjour, salut, hola, buenas, buenos días`})`;
const DET = word`the, this, these, our, my, a, an, some, der, dem, den, die, das, eine, einen, unser, unsere, unserem, unseren, le, la, les, un, une, notre, el, los, una, nuestro, nuestra`;
export const EACH_WITHIN = anywhere`${word`individually, separately, separate, individual, each, each of, each of them, each on their own, one by one, one mail each, in separate mails, in separate emails, einzeln, jeweils, getrennt, einzelne, séparément, individuellement, chacun, por separado, individualmente`}`;
/** Says no more than that there is a message. */
export const PLEASANTRY = at`[\s\p{P}]*(?:(?:${POLITE}|${DET}|${NOUN}|${EACH_WITHIN.source}|${word`same, just, only`})[\s\p{P}]*)+$`;
const MAILS = word`mails, emails, e-mails, messages, things, tasks`;
export const LEAD = at`(?:${word`merci`}\s(?:de\s|d['’])|[\s,;.!&–—•*-]|${word`dear, hi, hello, hey, hallo, liebe, lieber, bonjour, hola`}\s\p{L}+,|\(?\d{1,2}[.)]\s|${POLITE}|${AND}|${word`veuillez, don't forget to, don’t forget to, do not forget to, vergiss nicht, can you, could you, would you, will you, can u, i need you to, i want you to, i'd like you to, kannst du, könntest du, können sie, könnten sie, peux-tu, pourrais-tu, pouvez-vous, pourriez-vous, puedes, podrías, just, now, then, also, first, finally`}|${word`next`}(?!\s+${TIME})|(?:[\p{L}\p{N}]+\s){0,3}${MAILS}(?:\s${POLITE})?:|${word`new mail, new email, new message, neue mail, neue e-mail, nouveau mail, nuevo correo`}\s*:|(?:${VERB}\s)?(?:\d|${word`two, three, four, these, zwei, drei, deux, trois, dos, tres`})\s${MAILS}(?:\s${POLITE})?[.!])*`;
const Q = String.raw`\uFDD0*[\uFDD0\uFDD3](?![\uFDD0\uFDD3])`;
const SUBJECT = word`subject line, subject, betreffzeile, betreff, objet, l'objet, l’objet, sujet, asunto, sbject, sbuject, suject, sujbect, subect, subejct, subjct, subjcet, subjet, subjetc, subjec, subjekt, subjectt, btreff, btereff, bereff, berteff, beteff, beterff, betrff, betrfef, betref, bettreff, betrefff, aunto, ausnto, asnto, asnuto, asutno, asuno, asunot, asunt`;
const COPY = word`cc, bcc, copy, in copy, in cc, kopie, in kopie, copie, en copie, copia, con copia`;
/** A part of an instruction with one of them changes what is to be sent, to whom, or when. */
const CONDITION = word`if, unless, until, till, once, when, whenever, as soon as, before, after, while, and, or, but, then, also, too, plus, except, instead, without, only, don't, don’t, do not, never, wenn, falls, sobald, bevor, nachdem, erst, und, aber, oder, dann, auch, nicht, si, quand, avant, après, dès, et, mais, ou, puis, aussi, cuando, antes, después, y, pero, o, también, luego`;
const OTHERS = word`not, no, any, every, me, us, my, him, her, them, of, from, for, at, on, in, by, with, about, that, review, approval, approve, check, kein, keine, keinen, von, aus, für, bei, mit, dass, pas, aucun, de, des, du, par, ningún, sin, con, que`;
export const ATTACHMENT = anywhere`${word`attach, attached, attaching, attachment, attachments, enclose, enclosed, anhang, angehängt, angehängte, angehängten, beiliegend, beiliegende, anbei, ci-joint, ci-jointe, pièce jointe, adjunto, adjunta`}`;
const PLAIN = String.raw`(?!${CONDITION}|${TIME}(?!['’]s)|${OTHERS}|${ATTACHMENT.source}|${TO}|${SUBJECT}|${COPY})`;
const PERSON = String.raw`(?:(?:${Q}\s*|${word`the, our, my`}\s+(?:\p{Ll}+\s+){1,3}|(?:\p{Lu}[\p{L}'’.-]*\s+){1,4})(?=[<(]))?[<(\[]?\uFDD1+(?!\uFDD1)[>)\]]?`;
const LIST = String.raw`${PERSON}(?:(?:\s*[,;&]\s*|\s+(?=${AND}))(?:${AND}\s+)?(?:${TO}\s+)?${PERSON})*`;
const OBJECT = String.raw`(?:${DET}\s+)?(?:${PLAIN}\p{Ll}[\p{L}-]*,?\s+){0,3}?${NOUN}`;
export const ENTRY = /^([ \t]*)(?:[-*•–]|\(?\d{1,2}[.)])\s/gmu;
const LAST_VERB = word`schreiben, schicken, senden, mailen, informieren`;
export const MAIL_HEAD = at`(?:(?:${VERB}|${word`drop, shoot, give, contact, chase, ping, apologise, apologize, get back, write back`})\s+(?:(?:${POLITE}|${word`sie, du, mal`})\s+){0,3}(?:${OBJECT}\s+(?:${THANKS}\s+)?)?(?:${TO}[\s:]+)?|(?:${DET}\s+)?(?:${word`new, same, short, quick, second, third, last, final, kurze, petit`}\s+)?${NOUN}\s+${word`to, for, an, für, à, pour, para`}\s+|${SEND}\s+(?:${POLITE}\s+)?(?<thing>(?:(?!${TO})[\p{L}\p{N}\uFDD0\uFDD3#'’.-]+\s+){1,9}?)${TO}\s+|(?:${TO}|${word`for, für`})[\s:]+|(?=${LIST}(?:\s*(?:[:：]|${Q})|\s+(?:${POLITE}\s+)?(?:${OBJECT}\s+)?${LAST_VERB})))(?:${EACH_WITHIN.source}\s+)?(?:(?:${PLAIN}\p{L}[\p{L}'’.-]*\s+){1,4}(?=[<(])|(?:${DET}\s+(?:${PLAIN}\p{L}[\p{L}-]*\s+){1,2}|(?:${PLAIN}\p{Lu}[\p{L}'’.-]*\s+){1,3}|${word`him, her, them, these people, the following people, all of them, customers, clients, guests, members, suppliers, colleagues, tenants, both, kunden, kundinnen, clientes`}(?:\s+${EACH_WITHIN.source})?(?:\s*:)?\s+)(?:${word`at, unter`}\s+)?)?(?<list>${LIST})(?!['’-])(?:\s+(?:${POLITE}\s+)?(?!${word`that, one, text`})${OBJECT})?(?:\s+(?:${word`know`}|${LAST_VERB}))?`;
const JOINT = String.raw`(?:[,;–—]\s{1,3}|\s${AND}\s{1,3}|\s${word`but, aber, mais, pero`}\s{1,3})(?:(?:${POLITE}|${AND}|${word`but, aber, mais, pero, only, just, rather, also, then`})[\s,]{1,3}){0,3}`;
export const MAIL_WITHIN = anywhere`(?<=(?<joint>${JOINT})|[\s,])${VERB}\s+(?:[^\s\uFDD0-\uFDD3]+\s+){0,5}[<(]?\uFDD1`;
export const MAIL_DESCRIBED = at`${word`ask, tell`}\s+(?!${word`me, us, for`})(?:[\p{L}.]+\s+){1,3}${word`whether, that, if, about`}\s|${word`email, e-mail, mail, remind, inform, notify, thank, invite, let`}\s+(?!${word`me, us`})\p{L}|${VERB}\s+(?:\p{L}+\s+){0,4}${word`email, e-mail, mail, message, reply, reminder, invitation, note to`}|${word`write to, schreib an`}\s+\p{L}|${word`send, drop`}\s+(?:\p{L}+\s+){1,3}${word`note, line`}`;
export const MAIL_IN_CONTEXT = at`${VERB}\s+(?:${OBJECT}|the\s+\p{L}+)(?:\s+out)?(?:\s+to\s+(?:the|this|our|my)\s+\p{L}+)?(?:\s+(?:now|${POLITE}))*[\s.!]*$`;
const QUESTION = word`did, does, do, has, have, had, is, are, was, were, what, whats, which, who, when, where, why, how, gibt, hat, haben, ist, sind, wie, wer, was, wann, wo, combien, quel, quelle, est-ce, cuánto, cuántos, qué`;
export const REMINDER = at`(?:${word`set, create, add, make`}\s+)?(?:${word`me, a`}\s+)?${word`remind me, remind us, reminder, erinnere mich, erinner mich, erinnere uns, rappelle-moi, rappelez-moi, recuérdame`}`;
/** Says only what is not to be done. */
export const NEGATED = at`${word`don't, don’t, dont, do not, never, nicht`}`;
export const ASKED = at`${QUESTION}\s[^]*[?]|(?:${word`tell me, show me, let me know`}\s+)?${word`what, whats, what's, which, who, why, how`}\s`;
const FILL = word`with, following, folgendem, folgenden, avec pour, use, using, make, put, it should have, the, its, a, mit, dem, den, der, avec, le, un, con, el`;
export const BETWEEN = at`(?:\s+|[,;.()?!/|–—-]|${THANKS}|${AND}|${FILL}|${word`now, sein`}){0,40}`;
const LINK = word`is, should be, shall be, will be, must be, should read, reads, ist, lautet, soll, est, sera, es, será, debe ser`;
const TEXT = String.raw`(?:${word`with, mit, avec, con`}(?=\s*\uFDD0+\uFDD3)|${word`add, ajoute, añade, txet, tetx, txt, mssage, msesage, mesage, mesasge, messge, messgae, messae, messaeg, nchricht, ncahricht, nahricht, nahcricht, nacricht, nacrhicht, nachicht, nachircht, nachrcht, nachrciht, nachriht, nachrihct, nachrict, nachricth, nachrich, text, texts, body, message, msg, content, words, saying, say, says, that says, that reads, reading, write, tell him, tell her, tell them, text is, inhalt, nachricht, sag ihm, sag ihr, sag ihnen, schreib ihm, schreib ihr, schreib, texte, contenu, dis-lui, dis-leur, disant, texto, mensaje, contenido, dile, diles, diciendo`})`;
export const TEXT_MARK = at`(?:\s+|[,;.?!()/|–—-]|${THANKS}){0,40}(?<label>(?:${AND}\s+)?(?:${FILL}\s+)*${TEXT}\s*)?(?:${LINK}\s*(?=[:：\uFDD0\uFDD3]))?(?<colon>[:：=]?)[ \t]*`;
export const QUOTE = at`\s*(?<value>${Q})`;
const SEND_THIS = String.raw`(?:${THANKS}\s+)?${SEND}\s+(?:${THANKS}\s+)?${word`this, that, it, das, dies, ça, ceci, esto`}\s`;
export const SENT_BELOW = at`${Q}[\s,;:.–—-]{0,9}${SEND_THIS}`;
/** Where a label stands, whose value is in quotation marks, or behind a colon or a verb. */
const STOP = String.raw`(?:${AND}\s+)?(?:${FILL}\s+){0,3}(?:${SUBJECT}(?=\s*[:：=]|\s*${Q}|\s+${LINK})|${COPY}(?=\s*[:：]?\s*(?:${TO}\s+)?[<(]?\uFDD1)|${TEXT}(?=\s*${LINK}?\s*(?:[:：=]|${Q})))`;
export const MAIL_NAMED = at`${VERB}\s+(?:${OBJECT}\s+)?(?:${TO}\s+)?(?<name>(?!${word`the, a, an, me, us, my, that, if, about, not`})(?:[\p{L}'’.-]+\s?){1,4}?)(?:\s*${OBJECT})?(?=\s*[:：,]|\s*\uFDD0|\s+${STOP})`;
const VAGUE = word`something, anything, whatever, as usual, as before, as always, same, the same, the usual, your choice, up to you, like last time, you choose, tbd, irgendwas`;
export const SUBJECT_LABEL = at`${SUBJECT}(?:\s*[:：=-]|\s+${LINK}\s*[:：]?)?\s*(?<value>${Q})|${SUBJECT}(?:\s*[:：=]|\s+${LINK}\s*[:：]?)\s*(?!\s|${VAGUE})(?<value>[^\n\uFDD0-\uFDD3]{1,300}?)(?=[ \t]{0,9}\n|[\s.]{0,9}$|(?<!(?<!\d)\d\d?|(?<!\p{L})${word`no, nr, dr, mr, mrs, st`})\.\s{1,9}[^\p{Ll}\p{N}\s]|(?<=[!?])\s|[\s,;./|–—-]{1,9}(?:${STOP}|${Q}))|${SUBJECT}\s+(?!\s|${VAGUE}|${LINK}|${word`to, re, fwd, fw, aw, wg`})(?<value>[^\n:：,;.!?\uFDD0-\uFDD3]{1,300}?)(?=\s{0,9}[:：]\s|[ \t]{0,9}\n|[\s.!?]{0,9}$|[.!?]\s{1,9}[^\p{Ll}\p{N}\s]|[\s,;./|–—-]{0,9}(?:${STOP}|${Q}))`;
export const COPIES = at`${COPY}\s*[:：]?\s*(?:${TO}\s+)?(?<list>${LIST})|(?<after>${LIST})\s+(?:${word`in, on, as, en`}\s+)?${word`cc, bcc, copy, kopie, copie, copia`}`;
const NOT = word`not, nicht, never, no, pas, except, except for, without, ohne, außer, sauf, excepto, salvo, don't, don’t, dont, do not`;
export const NOT_TO = at`(?:${word`and, but, aber, und, mais, et, pero, y`}\s+)?(?!${word`don't, don’t, dont, do not, never`})${NOT}\s+(?:${TO}\s+)?(?:(?!${word`from, of, about, by, for, if, until, before, like, von, über, wie, de, sobre`})\p{L}[\p{L}'’]*\s+){0,3}(?<list>${LIST})(?!['’-])`;
/** Who is not to be written to. */
export const FORBIDDEN = anywhere`${NOT}\s+(?!${word`forget, hesitate, only, just, yet`})(?:(?!${word`until, unless, before, if, when, bis, wenn`})[^\s\uFDD0-\uFDD3.,;:!?]+\s+){0,5}(?<list>${LIST})`;
/** What stands before the marks of a mail whose recipient is named elsewhere in the sentence. */
export const TOLD = at`${VERB}\s|[^]*?(?<!${DET}\s{1,3})${VERB}(?:\s+(?!${word`from, by, von, de`})[^\s]+){0,8}\s*$`;
export const EACH = at`(?:${TO}\s+)?${EACH_WITHIN.source}`;
export const DESCRIPTION = at`\s{1,9}(?:${word`about, regarding, concerning, for, wegen, über, zu, zum, zur, pour, sobre, por, au sujet de, à propos de`}(?:\s+${PLAIN}\p{L}[\p{L}'’/-]*|\s+#?\d+){1,10}?|(?:(?:${AND}\s+)?${word`tell, inform, remind, ask`}\s+${word`him, her, them`}\s+)?(?:${word`to`}(?=\s+\p{Ll})|${word`that, whether, how, we, i, he, she, it, they, you, saying, dass, ob, wir, ich, que, nous`})(?:\s+(?!${CONDITION}|${ATTACHMENT.source}|${TEXT}\s*[:：])[\p{L}\p{N}#%€$£'’/-]+){1,25}?)(?=\s{0,9}(?:[.,;:：!?)\n–—]|-\s|$)|\s{1,9}${STOP})`;
export const GREETING = at`\s*${word`hi, hello, hey, dear, good morning, good afternoon, good evening, hallo, moin, servus, guten morgen, guten tag, guten abend, liebe, lieber, sehr geehrte, sehr geehrter, bonjour, salut, cher, chère, chers, chères, madame, monsieur, hola, buenos días, buenas tardes, estimado, estimada, estimados, querido, querida`}(?:[ \t]+[\p{L}.'’&-]+){0,5}[ \t]*(?:[,!:\n–—]|\.\s|-\s)`;
export const LABEL = anywhere`(?<=[.!?,;:)\n\uFDD3]\s{0,5})(?:${AND}\s+)?(?:${FILL}\s+){0,2}(?:${SUBJECT}|${COPY}|${TO}\s*[:：]\s*[^\n]{0,99}\uFDD1)`;
export const FIELD = anywhere`${LABEL.source}|(?<=\s)${STOP}|[:：]\s*(?=${Q})`;
/** Ends the instruction of a mail whose text was quoted. */
export const ENDS = anywhere`${VERB}|[.!?:：\n\uFDD0-\uFDD3]`;
export const TO_SENTENCE_END =
  /[^\n]*?(?:(?<!(?<!\p{L})(?:Co|Inc|Ltd|Dr|Mr|Mrs|Ms|Nr|St|Fa))[.!?…\uFDD3]+(?=\s|$)|(?=\n)|$)/uy;
/** Says, perhaps, that something is not to be done, not yet, or only under a condition. */
export const HELD = anywhere`^${VAGUE}|${word`don't, don’t, dont, do not, never, not`}\s+(?:\p{L}+\s+)?${word`send, email, mail, forward, tell, mention, include, cc, copy, yet`}|${word`if, when, once, until, before, after, unless, as soon as, sobald, bevor, wenn, falls, dès que, avant que`}\s+${word`i, he, she, they, i've, i’ve, she's, he's, it's, it is, ich, er, je, il, elle`}|${word`let`}\s+${word`me`}\s+(?!${word`know`})|${word`only if, only after, only when, only once, only with, unless, before sending, before you send, before it goes, ask me, show me, remind me, check with me, with me first, wait for, wait until, hold it, hold this, hold on, hold off, hang on, my approval, my ok, my okay, go-ahead, for my review, for review, note to self, note for you, ps for you, p.s. for you, ps to you, p.s. to you, scratch that, never mind, forget it, forget that, forget this, actually, on second thought, nicht senden, nicht schicken, nicht abschicken, noch nicht, erst wenn, erst nach, erst am, nur wenn, nur falls, frag mich, zeig mir, erinnere mich, vergiss es, vergiss das, warte, meine freigabe, pas encore, envoie pas, envoyez pas, avant d'envoyer, seulement si, seulement quand, seulement après, sauf si, demande-moi, attends, rappelle-moi, mon accord, no lo, todavía no, antes de que, en cuanto, solo si, sólo si, pregúntame, espera, recuérdame`}`;
const ACT = word`record, book, raise, call, file, schedule, attach, delete, pay, post, sign, cc, bcc, copy`;
const BOOK = word`verbuchen, buchen, eintragen, erfassen, enregistrer, comptabiliser, registrar`;
const SUM = word`payment, payments, money, income, revenue, sale, deposit, zahlung, zahlungseingang, einnahme, umsatz, paiement, recette, virement, pago, ingreso, cobro`;
export const RECORD = at`(?:${word`record, log, register, verbuche, enregistre, enregistrez, registra, registre`}|${word`book, enter, add, put down, buche, note, encaisse, anota, apunta`}(?=\s+(?:(?:${DET}|${word`new`})\s+)?(?:[€$£]?\d|\p{Lu}{3}\s?\d|${SUM})))(?:\s+(?:${DET}|${word`new`}))?|${SUM}\s+(?:${POLITE}\s+)?(?:${BOOK}\s*)?[:：]|(?=(?:${DET}\s+)?(?:[€$£]?\d|${SUM})(?:[^.,\n]|[.,]\d){3,120}\s${BOOK}[\s.!]*$)`;
export const BOOK_IT = anywhere`[\s,;–—-]{0,9}(?:${word`merci`}\s(?:de\s|d['’])|(?:${POLITE}|${AND})[\s,]+){0,3}(?:${word`can you, could you`}\s+)?(?:${word`book, record, log, enter, register, note, add, put`}\s+${word`it, that, this, them, the payment, the revenue, the income, the money, the sale, as, into, in, under, to`}|${word`verbuchen, verbuche, verbuche das, buchen, eintragen, trag das, trage das, enregistre, enregistrez, enregistrer, à enregistrer, comptabilise, comptabiliser, regístralo, registralo, registra, anótalo, apúntalo`})[^.!?\n\uFDD1]{0,80}`;
const TASK = String.raw`(?:${RECORD.source}|(?:${ACT}|${word`cancel, order, log, set up, remind me`})\s+(?!${THEM}))`;
/** Where a sentence goes on to another task: behind money, behind a mail that is only described. */
export const NEXT_TO_RECORD = anywhere`(?!${BOOK_IT.source})${JOINT}(?=(?:${VERB}|${word`say`})\s|${TASK})`;
export const NEXT_TO_MAIL = anywhere`${JOINT}(?=${TASK}|${MAIL_WITHIN.source})`;
const SENTENCE = String.raw`(?:^|[.!?…\n(–—]\s{0,9})`;
const FURTHER = String.raw`[^\p{L}]{0,9}(?!${word`next`}\s+(?:${TIME}|\p{Lu}))${word`also, then, next, afterwards, außerdem, dann, ensuite, luego, también`}`;
const DO = String.raw`(?!${word`thank you`})(?:${VERB}|${ACT}|${word`polish, shorten, reword, rephrase, translate, proofread`})\s+`;
export const NEXT_IN_LETTER = anywhere`${SENTENCE}(?:${AND}[\s,]+)?(?:${DO}(?!${US})|(?:${POLITE}[\s,]+)?(?:${FURTHER}[\s,]+(?:${POLITE}\s+)?${DO}|${DO}${THEM}))|\s${AND}\s+${VERB}\s+(?:\uFDD1|${THEM})`;
export const NEXT = anywhere`${NEXT_IN_LETTER.source}|${SENTENCE}(?:${POLITE}[\s,]+)?(?:${DO}(?!${US})|${FURTHER})|${word`first`}\s*(?:[.!]|$)|[,;]\s*${word`then, and then, and also`}|[,;]\s*${AND}\s+${VERB}\s|\s${AND}\s+${word`then, also`}`;
export const NEXT_TO_SUBJECT = anywhere`${NEXT.source}|,\s+${TIME}|^- ${SUBJECT}\s(?!\s*[:：=])[^:：=]*\s${word`txt, txet, tetx, text, msg, message, body`}\s`;
/** Speaks of the recipient, or of what to write: not to the recipient. */
export const REPORTED = anywhere`^${word`a short, a quick, a brief, a friendly, a nice, a polite, short, quick, brief, friendly, polite, the text, the note, the message, the mail, the wording, see the, see below, see above, that, whether, to, about, asking, say, explain, mention, apologise, apologize, congratulate, describe, offer, dass, ob, que`}\s|${word`he, she, him, her, his, hers`}`;
/** Where a mail of its own may begin: at the start of a line, or of a sentence. */
export const MAIL_START = anywhere`(?<=(?<line>^|\n)[ \t]{0,9}|[.!?\uFDD3]\s{1,3})(?!(?<=\uFDD3\s{0,9})[\s,;:.–—-]{0,9}(?:${SEND_THIS}|${TO}\s))(?:[-*•–]\s{1,3}|\(?\d{1,2}[.)]\s{1,3}|(?:${POLITE}|${AND}|${word`also, then, next, second`})[\s,:]{1,3}){0,4}(?=${VERB}\s|${TO}[\s:]|${DET}\s|${NOUN}\s|[\uFDD0\uFDD1<(])`;
export const ON_A_LINE = at`[^.!?\n]{0,300}?[:：]|\s*\uFDD0`;
export const WITH_SUBJECT = at`[^.!?:：\n]{0,300}?${SUBJECT}[^.!?:：\n]{0,300}?[:：\uFDD0\uFDD3]`;
export const INSTRUCTION = at`${LEAD.source}(?:${VERB}|${ACT}|${word`add, arrange, create, log, publish, register, save`})(?=\s+[\p{L}\p{N}\p{P}\p{S}\uFDD0-\uFDD3])(?!\s+${word`me, us, mir, uns, moi, nous`})`;
export const QUOTED_LINE = /(?:[:：]\s{0,9}?)?^[ \t]*>[^\n]*/gmu;
export const PASTED =
  /^[ \t]*(?:-{3,}|(?:begin forwarded|original|forwarded|weitergeleitete|ursprüngliche) (?:message|nachricht)|(?:from|von|de)[ \t]*:[^\n]*\uFDD1)/imu;
export const SIGNED = anywhere`${word`regards, best, best wishes, sincerely, cheers, yours, thanks, thank you, grüße, gruß, grüßen, cordialement, bien à vous, merci, saludos, atentamente, gracias, un saludo, see you, sorry, a bientôt, bis bald`}(?:[ \t](?!${OTHERS}|${TO})\p{L}+){0,3}[,.!]?\s{1,4}(?:\p{Lu}[\p{L}.'’&-]*\s*){1,5}[.!]?\s*$`;
export const BARE_SUM = at`[^\d\n]{0,60}\s(?<digits>\d[\d.,]{0,12}\d|\d)(?=\s+${word`from, for, by, von, für, de, pour, por`}\s|[\s.!]*$)`;
export const NAMES_SUM = at`(?:(?:${RECORD.source})\s+)?${SUM}`;
const PAID = word`paid, transferred, settled, wired, bezahlt, gezahlt, überwiesen, beglichen, payé, réglé, viré, versé, pagado, pagó, abonado, transferido`;
/** A question, or what is to be told to somebody. */
export const NO_INCOME = at`${VERB}\s|[^\n]*[?]\s*$`;
/** Says that money came in; somebody may have paid it to others, so that is to be asked for as well. */
export const CAME_IN = anywhere`${word`we, i, we've, we’ve, i've, i’ve`}\s+(?:${word`have, just, also, today, now, finally`}\s+){0,3}${word`received, got, got paid, were paid, been paid, collected, took in`}|${word`paid, sent, transferred, wired`}\s+${US}|${word`came in, come in, arrived, been received, eingegangen, reingekommen, eingetroffen, erhalten, bekommen, eingenommen, avons reçu, a encaissé, avons encaissé, ai reçu, hemos recibido, he recibido, hemos cobrado, ha llegado, received from, reçu de, recibido de`}|${US}\s+(?:${word`a, ont, ha, han`}\s+)?${PAID}`;
export const PAID_OR_IN = anywhere`${PAID}|${CAME_IN.source}`;
export const PAYER = at`(?!${word`we, i, it, he, she, they, you, wir, ich, es, er, sie, nous, on, je, il, elle, hemos, today, yesterday, heute, gestern, hier, hoy, ayer, please, if, when, payment, money, who`}|${DET}\s+(?:${SUM}|${word`invoice, bill, quote, offer, refund, rechnung, angebot, rückerstattung, facture, devis, factura`}))(?<name>(?:\p{Lu}|${DET}\s)[^\d,;:()\n\uFDD0-\uFDD3]{0,80}?)\s+(?:(?:${word`has, have, had, just, already, also, today, finally, haben, hat, heute, gestern, a, ont, nous, ha, han, nos, uns, now`}|\p{Ll}+ly)\s+){0,4}(?:${PAID}|${word`sent`}\s+${US}|(?<=${word`haben, hat, heute, gestern, ont, a, ha, han, uns, nous`}\s+)(?=[\d€$£]))`;
export const PAY = at`${word`pay, wire, transfer, refund, reimburse, give back, überweise, überweisen, zahle, bezahle, erstatte, paie, payez, vire, virez, rembourse, remboursez, paga, pague, transfiere, reembolsa, devuelve`}\s`;
export const SPENT = at`${PAY.source}|[^\n]{0,300}?(?:(?<=^|\s)[-−][€$£]?\s?\d|${word`we paid, i paid, we've paid, we have paid, i have paid, we just paid, we also paid, spent, taken out, withdrawn, bought, purchase, purchased, expense, expenses, bank fee, bank fees, refund, refunds, refunded, refunded us, reimbursed, reimburse, salary, salaries, wages, payroll, invoice from, bill from, avons payé, ai payé, avons réglé, remboursement, rembourser, salaire, salaires, hemos pagado, he pagado, reembolso, salario, nómina, gehalt, gehälter, lohn, löhne, rückerstattung, erstattung, gekauft, ausgegeben, ausgabe`}|${word`wir, ich`}\s+${word`haben, habe`}\s[^.\n]{0,99}?${word`bezahlt, gezahlt, überwiesen`}(?!\s+${word`bekommen`})|${word`wants, want, get, gets, got, received, gave, paid, sent`}\s(?:[^.\n]{0,60}\s)?${word`back`}|${word`zurückbekommen, zurückgezahlt, zurückerstattet, zurücküberwiesen, remboursé, rendu, devuelto, reembolsado`}|${word`zahlung, zahlungen, überweisung`}\s[^.\n]{0,80}?${word`an`}\s+(?!${US})|(?<!${word`for, of, für, pour, por, de`}\s+)${DET}\s+(?:\p{Ll}+\s+){0,2}${word`invoice, bill, quote, offer, estimate, rechnung, angebot, mahnung, facture, devis, factura, presupuesto`}\s+${word`of, over, for, von, über, de, por`}|${word`payment, paid, pay, transfer, transferred`}(?:(?!\s${word`from`}\s)[^.\n]){0,80}?\sto\s+(?!${word`us, our, me, my, the account, the bank, the company, the till, the cash box`}))`;
export const NO_MAIL = at`${ASKED.source}|${REMINDER.source}|${NEGATED.source}|${PAY.source}`;
/** Why a sentence is not acted on, and what to write instead. */
export const REASONS: readonly [said: RegExp, why: string][] = [
  [REMINDER, 'Reminders cannot be set here: a schedule hands in a directive each day, week or month.'],
  [ASKED, 'Questions are answered in the chat; `Report on the revenue` files the figures here.'],
  [
    at`[^\n]{0,300}?(?:${word`will, is going to, are going to, wants to, want to, promised to`}\s+(?:\p{Ll}+\s+)?${word`pay, send, transfer, wire, settle`}|${word`owes us, owe us, owes me, promised us, schuldet uns, nous doit, nos debe, va payer, va nous payer, nous paiera, va a pagar, nos pagará`}|${word`wird, werden, will`}\s[^.\n]{0,99}?${word`zahlen, bezahlen, überweisen`})[^\n]{0,99}`,
    'Revenue is recorded once it has arrived: `Record 300 EUR from Acme`.',
  ],
  [
    SPENT,
    'Money cannot be paid out, paid back or recorded as spent here, and what comes back is no revenue.',
  ],
  [
    at`[^\n]{0,300}?${word`instagram, facebook, linkedin, twitter, tiktok, social media, tweet, whatsapp, newsletter post, blog post`}`,
    'Nothing can be posted here: say to whom a mail goes, or write a document.',
  ],
  [
    at`[^\n]{0,300}?${word`meeting, appointment, calendar, termin, kalender, besprechung, rendez-vous, réunion, reunión, cita`}`,
    'No meeting can be arranged or put in a calendar here.',
  ],
];
export const SOURCE = anywhere`(?:${word`from, von, vom`}|${word`paid`}\s[^\n.]{0,40}?${word`by`}|(?<=(?:[€$£]|\p{Lu}{3}|${word`euros, dollars, reçu, encaissé, recibido`})\s)${word`de, del`})\s+(?<name>[^\s\d,;:()\uFDD0-\uFDD3](?:(?!\s(?:${word`for, as, on, via, by, to, in, and, is, has, have, came, arrived, today, yesterday, this, für, per, am, heute, gestern, bar, ist, sind, eingegangen, erhalten, bekommen, bezahlt, überwiesen, reingekommen, because, since, after, and, weil, nach, verbuchen, buchen, eintragen, bitte, please, pour, par, aujourd'hui, hier, para, por, hoy, ayer`}|[€$£]?\d[\d.,]*\s?(?:[€$£]|\p{Lu}{3}|euros?)|[€$£]\d))[^,;:()\n\uFDD0-\uFDD3.!?]|\.(?=\S)|(?<=\s\p{Lu}\p{Ll}{0,2})\.(?=\s\p{Lu})){0,80})`;
/** What money is for, up to the end of the sentence. */
export const PURPOSE = anywhere`(?:^|\s)${word`for, für, pour, por, wegen`}\s+(?:${DET}\s+)?(?!${word`it, that, this, them, us, me`}\W*$)(?<what>[^\n]{2,}?)(?:\s+(?:${PAID}|${word`erhalten, bekommen, eingegangen, eingenommen, came in, today, heute, has arrived, arrived`}|${THANKS}))*[\s.!]*$`;
export const PERHAPS = anywhere`${word`if, when, tomorrow, not, no, nothing, never, only, before, once, until, unless, next, later, soon, will, owes, owe, unpaid, expected, less, little, too much, back, loan, credit, advance, order of, orders, delete, cancel, zu wenig, zu viel, zurück, darlehen, kredit, auftrag, prêt, moins, préstamo, says, claims, promised, maybe, should, would, wenn, falls, morgen, nicht, noch, soll, sollte, wird, angeblich, si, quand, demain, pas, cuando, mañana`}|${HELD.source}`;
export const SIGNAL = at`${word`raise, create, open, log`}\s+(?:${word`a, an, new`}\s+)?(?:(?<severity>${word`critical, warning, info`})\s+)?(?:${word`signal, alert`}|(?<noun>${word`warning`}))\s*[:：]\s*`;
export const DOCUMENT = at`(?:${word`write, file, save, add, make, create, draft, prepare`}\s+)?(?:${word`a, an, the, this, our, my`}\s+)?${word`document, memo, note, report`}[^\n:：.!?\uFDD0\uFDD1\uFDD3]{0,80}(?<title>${Q})?\s*(?<colon>[:：])?\s*`;
const FIGURE = word`revenue, income, sales, earn, approvals, signals, alerts, buyers, orders, work, came in, waiting, pending, where we stand, hours, today, yesterday, day, week, month`;
export const FIGURES = at`(?:${word`write, file, make, prepare, give, show, send, get, i need, need, me, us, a, an, the, my, our, short, quick, daily, weekly, morning`}\s+)*(?:${word`report, overview, summary, status, briefing, brief me`}(?=[^\n]{0,300}${FIGURE}|[\s.!?]*$)|${word`how many, how much`}(?=[^\n]{0,300}${FIGURE}))[^\n:：\uFDD1]*(?:[:：](?=[^\n]{0,300}${FIGURE})[^\n\uFDD1]{0,120})?\s*$`;
export const CAPO_NAMES = anywhere`${anyOf(CAPO_ROLES.filter((role) => role !== 'ceo').flatMap((role) => CAPOS[role].aliases))}`;
export const DELEGATES = anywhere`(?:^|(?<=[.;,!\n]\s{0,3}|\s${AND}\s))(?:(?:${POLITE}|${AND}|${word`also, then`})[\s,]+)*${word`ask, have, tell, get, let`}\s+(?:${word`the, our`}\s+)?(?<capo>${CAPO_NAMES.source})(?:\s+${word`team`})?(?!['’\w-])[\s:,]*(?:${word`to`}\s+(?!${word`not, never`}))?`;
