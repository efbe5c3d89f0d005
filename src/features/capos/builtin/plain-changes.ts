import type { RevisedPacket } from './revised-packet.js';
import { type Text, within } from './text.js';
import { SUBJECT_WORD } from './words.js';

/**
 * The changes of a draft that are followed, in English, German, French and Spanish. Each reads the beginning of what is left of a
 * wish; whatever none of them reads is not followed, so the wish as a whole isn't either.
 */

const A = String.raw`["“<(]?\uFDD1+[>)"”]?`;
const AND = String.raw`(?:\s*[,&+]\s*|\s+(?:and|und|et|y)\s+)`;
const LIST = `${A}(?:${AND}${A})*`;
const Q = String.raw`\uFDD0*[\uFDD0\uFDD3]`;
const TO = String.raw`(?:(?:to|an|à|a|para)\s+)`;
const THE = String.raw`(?:(?:the|a|new|den|der|die|das|neuen?|neuer|le|la|un|une|el|nouvel|nuevo)\s+|l['’]\s*)*`;
/** "it should go", "schick es" */
const SEND = String.raw`(?:(?:(?:re)?send|email|mail|address|schicke?n?|sende?n?|maile?|envoie|envoyez|envía|manda|it|this|es|das|sie|le|lo|should|must|soll|sollte|doit|debe|go|goes|gehen|be|sent)\s+){0,6}`;
const SENT = String.raw`(?:\s+(?:schicken|senden|mailen|gehen|envoyer|enviar)(?!\p{L}))?`;
const REPLACE = String.raw`(?:replace|change|swap|ersetze?n?|ändere|tausche|remplacez?|changez?|reemplaza|cambia)\s+`;
const WITH = String.raw`\s+(?:with|by|for|to|into|durch|gegen|in|zu|par|en|por|a)\s+`;
const NOT = String.raw`(?:not|nicht|pas|no)\s+`;
const INSTEAD_OF = String.raw`\s*,?\s+(?:instead\s+of|rather\s+than|(?:and\s+)?not|statt|anstatt|anstelle\s+von|(?:und\s+)?nicht|au\s+lieu\s+de|et\s+non|pas|en\s+lugar\s+de|en\s+vez\s+de|y\s+no|no)\s+`;
const BUT = String.raw`\s*,?\s+(?:but|sondern|mais|sino)\s+`;
const HEADING = String.raw`(?:${SUBJECT_WORD}|title|titel|titre|título)(?!\p{L})`;
const CHANGE = String.raw`(?:(?:change|set|make|ändere|setze?|changez?|mets|mettez|cambia|pon)\s+)`;
const IS = String.raw`(?:\s*[:：=]|\s+(?:(?:should|must)\s+(?:be|read|say)|is(?:\s+to\s+be)?|to(?:\s+be)?|auf|zu|in|soll|sollte|en|à|a|por)(?!\p{L}))*`;
const BODY = String.raw`(?:(?:say|write|use|make\s+it\s+say|schreibe?|sage?|nimm|écris|dis|escribe|di)(?!\p{L})|(?:(?:change|replace|set|ändere|ersetze)\s+)?${THE}(?:text|body|message|nachricht|texte|texto)(?:\s+(?:(?:should|must)\s+(?:be|say|read)|is|to|with|in|durch))?(?!\p{L}))(?:\s+(?:instead|this|it|stattdessen|folgendes|plutôt|esto)(?!\p{L}))*`;
const CC = '(?:cc|copy|kopie|copie|copia)';

/** Says nothing by itself, and stands before, between and behind wishes. */
const FILLER =
  /^(?:[\s,;.!…–-]|(?:please|pls|bitte|kindly|can you|could you|kannst du|könntest du|können sie|s['’]il (?:te|vous) plaît|stp|svp|por favor|and|und|et|y|then|dann|puis|ok|okay|hi|hello|hallo|bonjour|hola|thanks|thank you|danke|merci|gracias|sorry|instead)(?!\p{L})(?!\s+of(?!\p{L}))|(?:no|nein|non)(?=[,.!])|(?:wrong|falscher?|falsche|mauvais) (?:recipient|address|person|empfänger|adresse|destinataire)\s*[:：]?)*/iu;

type Said = Readonly<Record<'old' | 'new', string[]>> & { plain: string };
interface Change {
  said: RegExp;
  /** Answers false where that can't be done, or not wholly. */
  make(revised: RevisedPacket, said: Said): boolean;
}

const said = (...ways: string[]) => new RegExp(`^(?:${ways.join('|')})(?![\\p{L}\\p{N}])`, 'diu');
const OLD = `(?<old>${LIST})`;
const NEW = `(?<new>${LIST})`;

const CHANGES: readonly Change[] = [
  {
    said: said(
      String.raw`(?:(?:also|add|put|with|setze?|mets|pon|mit|avec|con)\s+)?${NEW}\s+(?:in|on|as|to|auf|en)\s+(?:the\s+)?${CC}`,
      String.raw`(?:(?:also|add)\s+)?(?:a\s+)?${CC}(?:\s*[:：])?\s+${TO}?${NEW}`,
    ),
    make: (revised, { new: added }) => revised.copy(added),
  },
  {
    said: said(
      `${REPLACE}${THE}(?:(?:recipient|address|empfänger)\\s+)?${OLD}${WITH}${NEW}`,
      `${SEND}${TO}?${NEW}${INSTEAD_OF}${TO}?${OLD}${SENT}`,
      `${SEND}${NOT}${TO}?${OLD}${BUT}${TO}?${NEW}${SENT}`,
    ),
    make: (revised, { old, new: added }) => revised.replaceRecipients(old, added),
  },
  {
    said: said(
      String.raw`(?:remove|drop|take\s+out|leave\s+out|without|entferne|streiche|ohne|retire|sans|quita|sin)\s+${OLD}`,
      `${SEND}${NOT}${TO}${OLD}${SENT}`,
    ),
    make: (revised, { old }) => revised.replaceRecipients(old, []),
  },
  {
    said: said(
      `${SEND}(?:also|auch|aussi|también|zusätzlich)\\s+${SEND}${TO}?${NEW}${SENT}`,
      String.raw`(?:add|ajoutez?|añade)\s+${NEW}`,
      String.raw`${SEND}${TO}?${NEW}\s*,?\s+(?:too|also|as\s+well|auch|aussi|también)`,
    ),
    make: (revised, { new: added }) => revised.addRecipients(added),
  },
  {
    said: said(
      String.raw`${SEND}${TO}${NEW}${SENT}(?:\s*,?\s+(?:instead|only|stattdessen|nur|plutôt))?`,
      String.raw`(?:to|an|à|para)\s*[:：]\s*${NEW}`,
    ),
    make: (revised, { new: recipients }) => revised.setRecipients(recipients),
  },
  {
    said: said(
      String.raw`${CHANGE}?${THE}${HEADING}${IS}\s*(?<new>${Q})(?:\s+(?:sein|lauten|heißen))?`,
      String.raw`(?:(?:use|take|nimm|verwende|prends|usa)\s+)?(?<new>${Q})\s+(?:as|als|comme|como)\s+${THE}${HEADING}`,
    ),
    make: (revised, { new: [heading] }) => revised.setHeading(heading!),
  },
  {
    // To the end of the sentence. What goes on behind a comma or an "and" may be another wish.
    said: new RegExp(
      String.raw`^(?:${CHANGE}${THE}${HEADING}\s+(?:to|auf|zu|in|en|à|a|por)\s*[:：]?\s+|${THE}${HEADING}\s*[:：]\s*)(?<plain>[^\n,;\uFDD0\uFDD1\uFDD3]+?[!?]*)(?=\.?\s*(?:\n|$)|(?:\.|(?<=[!?]))\s)`,
      'diu',
    ),
    make: (revised, { plain }) =>
      !/\s(?:and|und|et|y|but|aber|mais|pero)\s/iu.test(plain) && revised.setHeading(plain),
  },
  {
    said: said(
      `${REPLACE}(?<old>${Q})${WITH}(?<new>${Q})`,
      `(?:${BODY}\\s*[:：]?\\s*)?(?<new>${Q})${INSTEAD_OF}(?<old>${Q})`,
      `${NOT}(?<old>${Q})${BUT}(?<new>${Q})`,
    ),
    make: (revised, { old, new: words }) => revised.replaceWords(old[0]!, words[0]!),
  },
  {
    said: said(String.raw`${BODY}\s*[:：]?\s*(?<new>${Q})(?:\s+(?:instead|stattdessen))?`),
    make: (revised, { new: [body] }) => revised.setBody(body!),
  },
  {
    said: new RegExp(String.raw`^${BODY}\s*[:：]\s+(?<plain>[^]+)$`, 'diu'),
    // More than the text may be asked for in it.
    make: (revised, { plain }) =>
      !new RegExp(`@|(?<!\\p{L})(?:b?cc|${SUBJECT_WORD})(?!\\p{L})`, 'iu').test(plain) &&
      revised.setBody(plain),
  },
];

/** Makes the change that the wish goes on with; the end where only filler words are left. */
export function nextChange(
  wish: Text,
  from: number,
  revised: RevisedPacket,
): { end: number } | 'end' | 'unclear' {
  const start = from + FILLER.exec(wish.masked.slice(from))![0].length;
  if (start === wish.masked.length) return 'end';
  const rest = wish.masked.slice(start);
  for (const change of CHANGES) {
    const match = change.said.exec(rest);
    if (!match) continue;
    return change.make(revised, saidIn(wish, start, match)) ? { end: start + match[0].length } : 'unclear';
  }
  return 'unclear';
}

/** What stands in the wish where the expression has its groups, with quotation marks or brackets taken off. */
function saidIn(wish: Text, start: number, { indices }: RegExpExecArray): Said {
  const passages = [...wish.addresses, ...wish.quotes];
  const placeOf = (name: string) => {
    const [from, to] = indices?.groups?.[name] ?? [0, 0];
    return { start: start + from, end: start + to };
  };
  const of = (name: string) => within(placeOf(name), passages).map(({ text }) => text);
  const plain = placeOf('plain');
  return { old: of('old'), new: of('new'), plain: wish.text.slice(plain.start, plain.end) };
}
