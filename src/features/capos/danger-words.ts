/**
 * The words by which a danger is recognised, in English, German, French and Spanish: in the directive, and in what is to leave.
 */

/** Any of the phrases as a whole word; in the tables a space stands for any white space. */
const anyOf = (phrases: string, position = '') => {
  const sorted = phrases
    .trim()
    .split(/\s*,\s*/)
    .toSorted((a, b) => b.length - a.length);
  const words = sorted.join('|').replaceAll(' ', String.raw`\s+`);
  return new RegExp(String.raw`${position}(?<![\p{L}\p{N}_'’-])(?:${words})(?![\p{L}\p{N}_])`, 'giu');
};

const POLITE = String.raw`^[\s,]*(?:(?:ok|okay|so|hi|hey|hello|hallo|please|pls|plz|kindly|now|then|also|and|finally|first|second|third|fourth|fifth|lastly|next|just|can|could|would|will|you|u|i|we|need|want|like|to|have|i'd|i’d|go|ahead|bitte|kannst|könntest|können|könnten|du|sie|mal|dann|und|auch|noch|zum|schluss|erstens|zweitens|drittens|außerdem|peux|peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|tu|vous|merci|de|s'il|te|plaît|et|puis|ensuite|aussi|enfin|puedes|podrías|puede|por|favor|y|luego|también|quiero|que)(?![\p{L}\p{N}'’])[\s,:.]*)*`;
/** Where the ask begins with the first ones, if politely; the others, which end a sentence, anywhere. */
const wanted = (first: string, last: string) =>
  new RegExp(`${POLITE}(?<verb>${anyOf(first).source})|(?<verb>${anyOf(last).source})`, 'giu');

/** "Pay the invoice", "überweise 500 Euro" */
export const PAYMENT = wanted(
  `pay, transfer, wire, refund, settle, bezahle, bezahl, zahle, überweise, überweis, erstatte, paie, paye, payez, règle, rembourse, vire, paga, pague, transfiere, reembolsa`,
  `bezahlen, überweisen, payer, rembourser, pagar, transferir`,
);
export const DELETION = wanted(
  `delete, erase, wipe, purge, destroy, remove, lösche, lösch, vernichte, supprime, supprimez, efface, borra, elimina`,
  `löschen, supprimer, effacer, borrar, eliminar`,
);
export const UNPROTECTED = wanted(
  `disable, turn off, switch off, bypass, deactivate, ignore, approve, deaktiviere, schalte, umgehe, genehmige, désactive, contourne, approuve, desactiva, aprueba`,
  'erinnern mich',
);
export const FIRST_ASK = anyOf(
  `ask me, let me see, let me approve, show me first, check with me, wait for me, my approval, my review, for review, approve it first,
  i approve, i have to approve, before you send, before you email, before you mail, before sending, only if, only when, unless,
  frag mich, zur freigabe, meine freigabe, freigeben, bevor du, bevor sie, nur wenn, erst wenn, demande-moi, demandez-moi,
  avant d'envoyer, mon accord, seulement si, sauf si, pregúntame, antes de enviar, mi aprobación, solo si, a menos que`,
);
export const SECRETS =
  anyOf(`password, passwords, passwort, passwörter, kennwort, mot de passe, mots de passe, contraseña, contraseñas, api key, api keys,
  secret key, secrets, private key, credentials, access token, access tokens, zugangsdaten, api-schlüssel, identifiants, clé api, credenciales, clave api, iban, bank details, card number,
  tokens?(?!\\s+of(?!\\p{L})), passcode, passphrase, pin codes?, security code, verification code, one-time code, zugangscode, sicherheitscode, code de sécurité, código de seguridad`);
/** Keys and tokens that tell by their form what they are. */
export const SECRET_VALUE =
  /(?<![\p{L}\p{N}])(?:sk-[\w-]{16,}|[sr]k_(?:live|test)_\w{10,}|gh[opsru]_[A-Za-z\d]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|A[KS]IA[A-Z\d]{16}|AIza[\w-]{30,}|cons_[A-Za-z\d]{30,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,})|-----BEGIN [A-Z ]{0,30}PRIVATE KEY/u;
export const EVERYBODY = anyOf(
  `(?:all|every|each|alle|allen|tous|toutes|todos|todas|jeden|jede|chaque|cada)(?: \\p{L}+)?(?: \\p{L}+)? (?:customers?|clients?|buyers?|contacts?|subscribers?|users?|people|kunden|kundinnen|käufer|kontakte|abonnenten|nutzer|acheteurs|abonnés|utilisateurs|clientes?|compradores|contactos|suscriptores|usuarios), everybody, everyone, the whole list, alle an, tout le monde, todo el mundo`,
);
export const OVERRIDE =
  anyOf(`without approval, without asking, do not ask, don't ask, skip approval, skip the approval, ignore previous, ignore all, ignore your, ignore the rules,
  ohne freigabe, ohne nachfrage, ohne zu fragen, sans approbation, sans validation, sans demander, sin aprobación, sin preguntar, kill switch, standing orders off`);
/** "We have paid your invoice", "der Betrag wurde überwiesen": a reader who believes it delivers. */
export const PAID = new RegExp(
  String.raw`(?<!\p{L})(?:${[
    String.raw`(?:we|i)(?:['’]ve|\s+have)?(?:\s+(?:already|just|today|now|also))*\s+(?:paid|wired|transferred|refunded|remitted|settled)`,
    String.raw`(?:payment|transfer|invoice|bill|amount|refund|sum)\s+(?:\S+\s+){0,3}(?:was|were|is|has been|have been|had been)(?:\s+(?:already|just))?\s+(?:paid|wired|transferred|refunded|remitted|settled|made|sent|executed|processed)`,
    String.raw`(?:wir|ich)\s+(?:haben?|hatten?)\s+(?:\S+\s+){0,8}(?:bezahlt|überwiesen|beglichen|erstattet)`,
    String.raw`(?:rechnung|zahlung|betrag|überweisung|summe)\s+(?:\S+\s+){0,3}(?:ist|wurde|sind|wurden)\s+(?:\S+\s+){0,3}(?:bezahlt|überwiesen|beglichen|erstattet|ausgeführt)`,
    String.raw`(?:nous avons|j['’]ai|on a)\s+(?:\S+\s+){0,2}(?:payé|réglé|viré|remboursé)`,
    String.raw`(?:facture|paiement|virement|montant)\s+(?:\S+\s+){0,3}(?:a|ont) été\s+(?:\S+\s+)?(?:payée?|réglée?|virée?|effectuée?|remboursée?)s?`,
    String.raw`(?:hemos|he)\s+(?:\S+\s+)?(?:pagado|transferido|abonado|reembolsado)`,
    String.raw`(?:factura|pago|transferencia|importe)\s+(?:\S+\s+){0,3}(?:ha sido|fue|está)\s+(?:\S+\s+)?(?:pagad|abonad|transferid|realizad|hech)[oa]`,
  ].join('|')})(?!\p{L})`,
  'iu',
);
