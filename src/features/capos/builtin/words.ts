/**
 * The words that the built-in runner knows, by what they do: English and German, some French and Spanish. Any other word asks.
 *
 * `mail` to `raise` begin a move, with the noun of it. `subject` to `copy` are labels, and `link` stands between a label and its value. `to` leads
 * to an address, `my` to somebody whose address follows. `around` stands beside a payer. With a `command` a sentence begins that may be meant for
 * the runner. With a `vague` word a value is described, not given. A `filler` changes nothing in any sentence.
 */
const WORDS = {
  mail: `send mail email e-mail tell let remind reply answer respond drop inform notify invite ask forward say shoot apologise schick schicke
    schicken maile mailen sende senden antworte antworten sag sage sagen informiere envoie envoyez réponds informe envía envíe manda mande responde`,
  write: `write draft prepare schreib schreibe schreiben écris écrire écrivez escribe escribir escriba`,
  letter: `mail email e-mail message line note him her them nachricht ihm ihr ihnen frau herr herrn courriel lui leur correo mensaje`,
  record: `record log register book enter add put verbuche verbuch verbuchen erfasse erfassen trag trage eintragen buche buch buchen`,
  income: `revenue payment payments money income sale sales deposit takings umsatz einnahme einnahmen zahlung zahlungseingang geld`,
  file: `write file save add make create draft prepare erstelle erstell schreib schreibe speichere leg lege legen verfasse`,
  document: `document doc memo note dokument notiz`,
  raise: `raise create open log flag melde`,
  signal: `signal alert warning warnung`,
  other: `call post publish arrange schedule cancel delete pay transfer refund wire buy order lösche überweise bezahle zahle ruf storniere supprime paie vire borra paga`,
  subject: `subject subj topic betreff objet sujet asunto`,
  text: `text txt message msg body content saying say says nachricht inhalt texte disant texto mensaje diciendo`,
  copy: `cc copy kopie copie copia`,
  blind: `bcc blind cachée oculta blindkopie cci cco`,
  link: `line is should be being reads read just say please as follows that whether titled called named ist soll sollte sein lautet lauten wie folgt bitte dass ob namens est suivant es siguiente`,
  to: `to at for an empfänger à destinataire a para destinatario`,
  and: `and then also afterwards but und dann außerdem aber sondern et puis ensuite mais y e luego también pero`,
  my: `my our the his her their mein meine meinen meinem meiner unser unsere unseren unserem unserer der die den dem seine seinen ihre ihren einer mon ma mes notre nos la le les son sa leur mi mis nuestro nuestra su sus el`,
  not: `not don't don’t dont never no without except nicht nie kein keine keinen ohne außer pas jamais sans sauf nunca sin excepto`,
  joint: `with mit avec con in im a an this following folgenden`,
  each: `each individually separately separate einzeln jeweils getrennt séparément individuellement individualmente`,
  from: `from by customer client payer von vom kunde kundin`,
  purpose: `for about against für über wegen`,
  condition: `if when once unless but because until wenn falls sobald aber weil bis si quand mais parce cuando pero porque`,
  around: `on in via as at by today yesterday cash bank transfer received got get came has have just am im per bar heute gestern ein ist haben hat wir als erhalten bekommen eingegangen`,
  spent: `expense expenses spent refund refunds refunded back loss losses bill cost costs owes ausgabe ausgaben ausgegeben erstattet erstattung zurück verlust`,
  attached: `attach attached attaching attachment attachments enclose enclosed anhang angehängt angehängte angehängten beiliegend anbei ci-joint ci-jointe adjunto adjunta`,
  us: `me us mir uns moi nous nos`,
  polite: `please pls kindly thanks thank bitte danke merci stp favor gracias`,
  command: `send mail email forward attach cc bcc copy put wait hold don't don’t do never then also only book remind tell ask schedule ps make translate sign phrase format schick
    schicke sende maile leite häng setz warte nicht dann außerdem erst nur verbuche buche trag erinnere sag frag mach übersetze formuliere envoie envoyez joins mets attends ne
    puis aussi seulement enregistre rappelle envoie-le envoie-la traduis envía manda adjunta pon espera luego también solo registra recuerda envíalo mándalo traduce`,
  vague: `something anything whatever usual same etwas irgendwas übliche quelque habituel algo`,
  closing: `regards love wishes sincerely cheers yours thanks grüße gruß grüßen grüsse grüssen cordialement merci saludos saludo atentamente gracias`,
  filler: `a an the this that it me him her them you u i we my our his their with in of us can could would will want like need now put so ok okay
    hey hi hello well first second finally one two three another other people mails emails over short quick note line mail email message letter know
    following below mr mrs ms dr mister is be by under address text subject give show get same how as new here here's here’s info critical daily weekly der die das den
    dem ein eine einen einem ne andere anderen weitere mir dir ihm ihr ihnen uns sie du ich wir mal doch kannst könntest können könnten mit dann auch
    noch dazu zum im frau herr herrn bescheid kurze kurz folgende folgenden soll sein betreff un une le la les avec courriel el con correo`,
};
export type Kind = keyof typeof WORDS;

const KINDS = new Map<string, Set<Kind>>();
for (const [kind, words] of Object.entries(WORDS) as [Kind, string][])
  for (const word of words.split(/\s+/)) KINDS.set(word, (KINDS.get(word) ?? new Set()).add(kind));

/** Without the article of a French word. */
export const kindsOf = (word: string): ReadonlySet<Kind> | undefined =>
  KINDS.get(word.toLowerCase().replace(/^[ld]['’]/, ''));
/** An expression for any of them, in small letters or with a capital. */
export const anyOf = (...kinds: Kind[]): string => {
  const words = kinds.flatMap((kind) => WORDS[kind].split(/\s+/));
  const written = words.map((word) => `[${word[0]}${word[0]!.toUpperCase()}]${word.slice(1)}`);
  return `(?<![\\p{L}\\p{N}])(?:${written.join('|')})(?![\\p{L}\\p{N}'’])`;
};
