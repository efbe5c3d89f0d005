/** The words that the built-in runner knows, by language and by what they do. At any other word it asks. */
const ENGLISH = {
  /** They ask for something: a mail, revenue, a document, a signal, figures. "Write" asks for a mail where a word for a letter follows. */
  mail: 'send mail email e-mail tell let remind reply answer respond drop inform notify invite ask forward say shoot apologise',
  write: 'write draft prepare',
  other: 'call post publish arrange schedule cancel delete pay transfer refund wire buy order',
  letter: 'mail email e-mail message line note him her them',
  record: 'record log register book enter add put',
  income: 'revenue payment payments money income sale sales deposit takings',
  file: 'write file save add make create draft prepare',
  document: 'document doc memo note',
  raise: 'raise create open log flag',
  signal: 'signal alert warning',
  report: 'report overview summary status briefing brief many much',
  figures:
    'revenue income sales approvals signals alerts orders waiting pending stand hours today yesterday day days week month',
  /** Labels, and what may stand between a label and its value. */
  subject: 'subject subj topic',
  title: 'title titled called named',
  text: 'text txt message msg body content saying say says',
  copy: 'cc copy',
  blind: 'bcc blind',
  link: 'line is should be being reads read just say please as follows that whether',
  /** They lead to an address, join two, take one back, or describe somebody whose address follows. */
  to: 'to at for',
  and: 'and then also afterwards but',
  my: 'my our the his her their',
  not: "not don't don’t dont never no without except",
  each: 'each individually separately separate',
  /** Around the name of a payer. */
  from: 'from by customer client payer',
  purpose: 'for against',
  behind: 'on in via as at today yesterday cash please paid sent transferred wired received book record log',
  condition: 'if when once unless but because until',
  paid: 'paid transferred wired settled sent',
  received:
    'received got get paid sent transferred wired came arrived has have just today cash as by bank transfer',
  spent: 'expense expenses spent refund refunded back loss bill cost costs owes',
  /** What a message speaks of; and with what a sentence of it begins that may be meant for the runner. */
  attached: 'attach attached attaching attachment attachments enclose enclosed',
  command: `send mail email forward attach cc bcc copy put wait hold don't don’t do never then also only book remind tell ask schedule ps`,
  closing: 'regards love wishes sincerely cheers yours thanks',
  us: 'me us',
  polite: 'please pls kindly thanks thank',
  /** They change nothing in any sentence. */
  filler: `a an the this that it me him her them you u i we my our his their with in of us can could would will want like need now put
    so ok okay hey hi hello well first second finally one two three people mails emails over short quick note line mail email message
    letter know following below mr mrs ms dr mister is be by under address text subject give show get same how as new info critical
    daily weekly`,
};
export type Kind = keyof typeof ENGLISH;

/** German, French, Spanish */
const OTHERS = [
  `mail: schick schicke schicken mail maile mailen sende senden antworte antworten sag sage sagen informiere
   other: lösche überweise bezahle zahle ruf storniere
   write: schreib schreibe schreiben; letter: mail e-mail nachricht ihm ihr ihnen frau herr herrn
   record: verbuche verbuch verbuchen erfasse erfassen trag trage eintragen buche buch buchen
   income: umsatz einnahme einnahmen zahlung zahlungseingang geld
   file: erstelle erstell schreib schreibe speichere leg lege legen verfasse; document: dokument notiz
   raise: melde; signal: signal warnung; report: bericht; figures: umsatz freigaben signale heute gestern woche monat
   subject: betreff; title: titel überschrift namens; text: nachricht inhalt; copy: kopie; blind: blindkopie
   link: ist soll sollte sein lautet lauten wie folgt bitte dass ob
   to: an empfänger; and: und dann außerdem aber sondern; not: nicht nie kein keine keinen ohne außer; each: einzeln jeweils getrennt
   my: mein meine meinen meinem meiner unser unsere unseren unserem unserer der die den dem seine seinen ihre ihren einer
   from: von vom kunde kundin; purpose: für wegen
   behind: am im per bar heute gestern ein ist haben hat bezahlt erhalten bitte verbuchen eintragen buchen
   condition: wenn falls sobald aber weil bis
   paid: bezahlt überwiesen beglichen
   received: wir haben hat ein als heute bar bezahlt überwiesen erhalten bekommen eingegangen
   spent: ausgabe ausgaben ausgegeben erstattet erstattung zurück verlust
   attached: anhang angehängt angehängte angehängten beiliegend anbei
   command: schick schicke sende maile leite häng setz warte nicht dann außerdem erst nur verbuche buche trag erinnere sag frag
   closing: grüße gruß grüßen grüsse grüssen; us: mir uns; polite: bitte danke
   filler: der die das den dem ein eine einen einem ne mir dir ihm ihr ihnen uns sie du ich wir mal doch kannst könntest können könnten
     mit dann auch noch dazu zum im frau herr herrn bescheid kurze kurz folgende folgenden soll sein setz betreff`,
  `mail: envoie envoyer envoyez réponds répondez informe informez préviens prévenez
   write: écris écrire écrivez; other: supprime paie vire
   letter: mail e-mail courriel message lui leur; record: enregistre enregistrez enregistrer; income: recette paiement revenu
   file: crée rédige écris; document: document note; raise: crée signale; signal: signal alerte
   report: rapport; figures: ventes semaine mois
   subject: objet sujet; title: titre intitulé; text: texte disant; copy: copie; blind: cci cachée; link: est suivant
   to: à destinataire; and: et puis ensuite mais; not: pas jamais sans sauf; each: séparément individuellement
   my: mon ma mes notre nos la le les son sa leur; from: de du; purpose: pour; behind: par en hier; condition: si quand mais parce
   paid: payé réglé viré versé; received: nous avons reçu payé; spent: dépense dépenses remboursement remboursé
   attached: ci-joint ci-jointe; command: envoie envoyez joins mets attends ne puis aussi seulement enregistre rappelle
   closing: cordialement merci; us: moi nous; polite: merci stp
   filler: le la les un une ce cet cette lui leur nous je tu vous courriel peux-tu pouvez-vous pourrais-tu pourriez-vous s'il te plaît avec
     bonjour monsieur madame`,
  `mail: envía envia enviar envíe manda mandar mande responda responde informa informe; write: escribe escribir escriba; other: borra paga
   letter: correo mail mensaje; record: registra registre registrar anota; income: ingreso pago cobro
   file: crea redacta escribe; document: documento nota; raise: avisa; signal: señal aviso; report: informe; figures: ventas semana mes
   subject: asunto; title: título titulado; text: texto mensaje diciendo; copy: copia; blind: cco oculta; link: es siguiente
   to: a para destinatario; and: y e luego también pero; not: no nunca sin excepto; each: individualmente
   my: mi mis nuestro nuestra su sus el la; from: de del; purpose: por; behind: en hoy ayer; condition: si cuando pero porque
   paid: pagado pagó abonado transferido; received: hemos recibido; spent: gasto gastos reembolso
   attached: adjunto adjunta; command: envía manda adjunta pon espera luego también solo registra recuerda
   closing: saludos saludo atentamente gracias; us: nos; polite: favor gracias
   filler: el la los las un una este esta lo le les correo puedes podrías puede por con en hola señor señora`,
];

const others = OTHERS.flatMap((table) => [...table.matchAll(/(\w+): ([^:;]+)(?=[;\n]\s*\w+:|$)/gu)]);
const listOf = (kind: Kind): string[] =>
  [ENGLISH[kind], ...others.flatMap(([, name, words]) => (name === kind ? [words!] : []))]
    .join(' ')
    .trim()
    .split(/\s+/);
const WORDS = new Map(Object.keys(ENGLISH).map((kind) => [kind, new Set(listOf(kind as Kind))]));

export const isA = (kind: Kind, word: string): boolean =>
  WORDS.get(kind)!.has(word.toLowerCase().replace(/^[ld]['’]/, ''));
/** An expression for any of them, in small letters or with a capital. */
export const anyOf = (...kinds: Kind[]): string => {
  const words = kinds
    .flatMap((kind) => [...WORDS.get(kind)!])
    .map((word) => `[${word[0]}${word[0]!.toUpperCase()}]${word.slice(1)}`);
  return `(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}'’])`;
};
