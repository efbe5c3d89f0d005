/**
 * The words that the built-in runner knows, by what they do: English, German, French, Spanish. At any other word it asks.
 *
 * `mail` to `raise` begin a move, with the noun of it; "write" begins a mail where a `letter` or an address follows. `subject` to `copy` are labels,
 * and `link` stands between a label and its value. `to` leads to an address, `my` to somebody whose address follows. `around` stands beside a payer,
 * `spent` is said of money that is no revenue, and with a `command` a sentence begins that may be meant for the runner. A `filler` changes nothing in
 * any sentence.
 */
const TABLES = [
  `mail: send mail email e-mail tell let remind reply answer respond drop inform notify invite ask forward say shoot apologise
   write: write draft prepare; letter: mail email e-mail message line note him her them
   record: record log register book enter add put; income: revenue payment payments money income sale sales deposit takings
   file: write file save add make create draft prepare; document: document doc memo note
   raise: raise create open log flag; signal: signal alert warning
   other: call post publish arrange schedule cancel delete pay transfer refund wire buy order
   subject: subject subj topic; title: title titled called named; text: text txt message msg body content saying say says; copy: cc copy; blind: bcc
   link: line is should be being reads read just say please as follows that whether; to: to at for; and: and then also afterwards but
   my: my our the his her their; not: not don't don’t dont never no without except; each: each individually separately separate
   from: from by customer client payer; purpose: for against; condition: if when once unless but because until
   around: on in via as at by today yesterday cash bank transfer received got get paid sent transferred wired came has have just
   spent: expense expenses spent refund refunded back loss bill cost costs owes
   attached: attach attached attaching attachment attachments enclose enclosed; us: me us; polite: please pls kindly thanks thank
   command: send mail email forward attach cc bcc copy put wait hold don't don’t do never then also only book remind tell ask schedule ps
   closing: regards love wishes sincerely cheers yours thanks
   filler: a an the this that it me him her them you u i we my our his their with in of us can could would will want like need now put so ok
     okay hey hi hello well first second finally one two three another other people mails emails over short quick note line mail email message
     letter know following below mr mrs ms dr mister is be by under address text subject give show get same how as new info critical daily weekly`,
  `mail: schick schicke schicken mail maile mailen sende senden antworte antworten sag sage sagen informiere
   write: schreib schreibe schreiben; letter: mail e-mail nachricht ihm ihr ihnen frau herr herrn
   other: lösche überweise bezahle zahle ruf storniere
   record: verbuche verbuch verbuchen erfasse erfassen trag trage eintragen buche buch buchen
   income: umsatz einnahme einnahmen zahlung zahlungseingang geld
   file: erstelle erstell schreib schreibe speichere leg lege legen verfasse; document: dokument notiz
   raise: melde; signal: signal warnung
   subject: betreff; title: titel überschrift namens; text: nachricht inhalt; copy: kopie; blind: blindkopie
   link: ist soll sollte sein lautet lauten wie folgt bitte dass ob
   to: an empfänger; and: und dann außerdem aber sondern; not: nicht nie kein keine keinen ohne außer; each: einzeln jeweils getrennt
   my: mein meine meinen meinem meiner unser unsere unseren unserem unserer der die den dem seine seinen ihre ihren einer
   from: von vom kunde kundin; purpose: für wegen
   around: am im per bar heute gestern ein ist haben hat wir als bezahlt erhalten bekommen eingegangen überwiesen
   spent: ausgabe ausgaben ausgegeben erstattet erstattung zurück verlust; condition: wenn falls sobald aber weil bis
   attached: anhang angehängt angehängte angehängten beiliegend anbei
   command: schick schicke sende maile leite häng setz warte nicht dann außerdem erst nur verbuche buche trag erinnere sag frag
   closing: grüße gruß grüßen grüsse grüssen; us: mir uns; polite: bitte danke
   filler: der die das den dem ein eine einen einem ne andere anderen weitere mir dir ihm ihr ihnen uns sie du ich wir mal doch kannst
     könntest können könnten mit dann auch noch dazu zum im frau herr herrn bescheid kurze kurz folgende folgenden soll sein betreff`,
  `mail: envoie envoyer envoyez réponds répondez informe informez préviens prévenez; write: écris écrire écrivez
   other: supprime paie vire; letter: mail e-mail courriel message lui leur
   subject: objet sujet; text: texte disant; copy: copie; blind: cci; link: est suivant
   to: à destinataire; and: et puis ensuite mais; not: pas jamais sans sauf; each: séparément individuellement
   my: mon ma mes notre nos la le les son sa leur; condition: si quand mais parce; attached: ci-joint ci-jointe
   command: envoie envoyez joins mets attends ne puis aussi seulement enregistre rappelle
   closing: cordialement merci; us: moi nous; polite: merci stp
   filler: le la les un une autre ce cet cette lui leur nous je tu vous courriel peux-tu pouvez-vous pourrais-tu pourriez-vous s'il te
     plaît avec bonjour monsieur madame`,
  `mail: envía envia enviar envíe manda mandar mande responda responde informa informe; write: escribe escribir escriba
   other: borra paga; letter: correo mail mensaje
   subject: asunto; text: texto mensaje diciendo; copy: copia; blind: cco; link: es siguiente
   to: a para destinatario; and: y e luego también pero; not: no nunca sin excepto; each: individualmente
   my: mi mis nuestro nuestra su sus el la; condition: si cuando pero porque; attached: adjunto adjunta
   command: envía manda adjunta pon espera luego también solo registra recuerda
   closing: saludos saludo atentamente gracias; us: nos; polite: favor gracias
   filler: el la los las un una otro otra este esta lo le les correo puedes podrías puede por con en hola señor señora`,
];

type Split<T extends string> = T extends `${infer One} ${infer Rest}` ? One | Split<Rest> : T;
export type Kind =
  | Split<'mail write letter record income file document raise signal other each subject title text copy'>
  | Split<'blind link to and my not from purpose condition around spent attached us polite command closing filler'>;

const WORDS = new Map<string, Set<string>>();
for (const table of TABLES)
  for (const [, kind = '', words = ''] of table.matchAll(/(\w+): ([^:;]+)(?=[;\n]\s*\w+:|$)/gu))
    WORDS.set(kind, new Set([...(WORDS.get(kind) ?? []), ...words.trim().split(/\s+/)]));

export const isA = (kind: Kind, word: string): boolean =>
  WORDS.get(kind)!.has(word.toLowerCase().replace(/^[ld]['’]/, ''));
/** An expression for any of them, in small letters or with a capital. */
export const anyOf = (...kinds: Kind[]): string => {
  const words = kinds.flatMap((kind) => [...WORDS.get(kind)!]);
  const written = words.map((word) => `[${word[0]}${word[0]!.toUpperCase()}]${word.slice(1)}`);
  return `(?<![\\p{L}\\p{N}])(?:${written.join('|')})(?![\\p{L}\\p{N}'’])`;
};
