import { CAPO_ROLES, CAPOS, type CapoRole } from '../capo.js';
import { anyOf, DELETION, PAYMENT, POLITE, UNPROTECTED, wanted } from '../danger-words.js';

/**
 * The words by which an ask is recognised, in English, German, French and Spanish. They only tell what is asked for:
 * none of them is ever written into a mail.
 */

const MAIL_VERBS = `
  NOUN(?:e-?mail|mail), write to, write back, snd, reply, respond, answer, forward, message(?!\\s*:), notify, inform, tell, let(?!['’]), thank(?!\\s+(?:you|u)(?!\\p{L})),
  ask, invite, follow up, get back to, drop, apologise, apologize, congratulate, send, shoot, remind, confirm, contact, ping, update, warn, warne, fwd, msg(?!\\s*:), relay, pass on,
  maile, mailen, schreib, schreibe, schreiben, schick, schicke, schicken, sende, senden, antworte, antworten, informiere,
  informieren, benachrichtige, benachrichtigen, erinnere, sag, sage, sagen, teile, frag, frage, fragen, danke, bedanke, lade, leite,
  leiten, gib, weiterleiten, übermittle, übermitteln, bestätige, entschuldige, gratuliere, verschicke, verschicken, mitteilen,
  envoie, envoies, envoyez, envoyer, écris, écrivez, écrire, réponds, répondez, répondre, préviens, prévenez, prévenir, informe,
  informez, rappelle, rappelez, dis, dites, demande, demandez, remercie, remerciez, invite, invitez, transfère, transférez, transmets, transmettez, relance, relancez,
  envía, envíale, envíele, envíales, mande, mándele, dígale, escriba, escríbale, avise, avísele, enviar, envíe, manda, mándale, mandar, escribe, escríbele, escribir, responde, contesta, avisa, avísale,
  informa, recuerda, recuérdale, di, dile, diles, pregunta, pregúntale, agradece, agradécele, invita, invítale, reenvía, reenvíale, reenvíales, reenviar, respóndele, contéstale, infórmale, escríbeles`;

/** "her mail" asks for nothing. */
const NOT_A_NOUN = String.raw`(?<!(?<!\p{L})(?:his|her|the|a|an|this|that|my|your|their|our|by|son|sa|le|la|un|une|ce|cet|mon|ma|die|der|eine|einer|seine|ihre|diese|folgende|el|su|un|este|mi|no)\s)`;
/** "She will write to us" asks for nothing either. */
const NOT_THEIRS = String.raw`(?<!(?<!\p{L})(?:he|she|they|who|il|elle|ils|elles|er)\s+(?:(?:will|would|wants to|want to|can|could|may|might|should|did|does|always|already|va|vont|doit|wird|will|soll)\s+){0,2})`;
const MAIL_WORDS = MAIL_VERBS.replace('NOUN', NOT_A_NOUN);
export const MAIL = anyOf(MAIL_WORDS, NOT_THEIRS);
export const WRITE = anyOf(
  `do a, write, draft, prepare, create, make, compose, compile, file, note, save, store, list, give, show,
  summarise, summarize, report, brief, get, put together, entwirf, erstelle, erstellen, verfasse, verfassen, bereite, fasse, notiere, speichere, zeig,
  zeige, gib, mach, liste, lege, leg, legen, rédige, rédigez, rédiger, prépare, préparez, préparer, fais, faites, faire, résume, résumez, note,
  notez, enregistre, donne, donnez, montre, crée, redacta, prepara, preparar, haz, hazme, resume, anota, guarda, dame, muestra, crea, archiva`,
  NOT_THEIRS,
);
export const MAIL_NOUN =
  anyOf(`mail, mails, email, e-mail, emails, message, note, note for, note to, reply, invitation, reminder, apology,
  thank-you, nachricht, dankesmail, erinnerung, antwort, einladung, courriel, mél, message, mot, rappel, relance, invitation,
  correo, mensaje, nota, recordatorio, invitación, respuesta`);
export const QUESTION = anyOf(
  `how many, how much, what, what's, whats, which, where, who, how, did, does, do (?:we|they|you(?! mind)|u(?! mind)), should, shall, any idea, anybody know, anyone know,
  tell me, let me know, sag mir, sagen sie mir, weißt du, wissen sie, weiß jemand, hast du, dis-moi, dites-moi, sais-tu, savez-vous, tu sais, dime, sabes, has, is, are, was, were, why, when, hat, haben, ist, sind, war, wann, warum,
  est-ce, as-tu, avez-vous, avons-nous, pourquoi, quand, ha, han, cuándo, por qué, wie viele, wie viel, wieviel, wieviele, was, welche, wie,
  wo stehen, combien, quel, quelle, quels, quelles, qu'est-ce, où, cuánto, cuántos, cuánta, cuántas, qué, cuál, cuáles, cómo`,
  POLITE,
);
/** The message is what follows after an empty line. */
export const BELOW = anyOf(
  'below, following, this, folgende, folgendes, folgenden, unten, suivant, suivante, ci-dessous, siguiente, abajo, esto',
);
export const TO_ME = anyOf(
  `me, us, mir, uns, moi, nous, envoie-moi, envoyez-moi, donne-moi, dis-moi, dime, envíame, mándame, muéstrame`,
);
/** Where the message is only described: it begins with what follows. */
export const DESCRIBES =
  anyOf(`that, know, whether, if, about, regarding, concerning, because, saying, explaining, telling, asking, to say, to tell,
  tell (?:her|him|them), sagen? (?:ihr|ihm|ihnen), to ask, to remind, to thank, to confirm, and say, and tell, and ask, and thank, and remind, and let, and explain, and apologise,
  and apologize, and confirm, dass, daß, ob, wegen, bezüglich, und sag, und sage, und frag, und frage, und teile, und bitte, und schreib, und erkläre,
  über, mit der bitte, que, qu, pour, si, parce, au sujet, concernant, à propos, et dis, et dis-lui, et demande, et demande-lui, et explique,
  sobre, para, porque, y dile, y di, y pregunta, y pregúntale, y explica, y avisa`);
/** At the beginning of a description: belongs to the instruction, not to the message. */
export const LEAD =
  /^[\s,;)>–-]*(?:(?:and|und|et|y)\s+)?(?:(?:please|to|bitte)\s+)?(?:(?:tell|remind|inform|let|sagen?|sag|teile|dis|dites|dile|di|avisa)(?:[\s-]+(?:her|him|them|ihr|ihm|ihnen|lui|leur|know|mit))*[\s,]+)?(?:know\s+)?(?:(?:(?:saying|to say|say)\s+)?(?:that|saying|dass|daß|que)\s+|qu['’])?/iu;
/** Speaks to the one who was named before, not to somebody else. */
export const PRONOUN =
  /^[\s,]*(?:(?:and|also|please|then|und|bitte|auch|et|puis|y|luego)\s+)*(?:(?:tell|ask|let|remind|thank|inform|invite|give|send|wish|write|sag|sage|sagen|frag|frage|teile|gib|erinnere|bitte|dis|dites|demande|demandez)[\s-]+(?:her|him|them|ihr|ihm|ihnen|sie|lui|leur|it)(?![\p{L}])|(?:dile|diles|pregúntale|recuérdale|avísale|ask whether|say|sag dass)(?![\p{L}]))/iu;
/** Directly before words in quotation marks that are the message. */
export const SAYS =
  /(?:[:：\uFDD1>]|(?<!\p{L})(?:(?:write|email|mail|e-mail|tell|send|answer|reply|schreib(?:e|en)?|antworte|écris|mail)[\s-]+(?:to )?(?:her|him|them|ihr|ihm|ihnen|lui|leur)|say|says|saying|writing|write|text|message|body|this|following|wording|words|telling (?:her|him|them)|with|mit|text|folgendes|schreib(?:e|en)?|sag(?:e|en)?|nachricht|dis(?:-lui)?|disant|écris(?:-lui)?|texte|avec|suivant|dile|di|diciendo|escribe|texto|con|mensaje))[\s,]*$/iu;
/** Between an address and its message. */
export const NOTHING_MORE =
  /^(?:[^\p{L}(]|\([^()]{0,60}\)|(?:please|pls|plz|bitte|and|und|et|y|stp|svp)(?!\p{L}))*$/iu;
const BODY_WORD =
  'body|text|txt|message|msg|content|nachricht|inhalt|corps|texte|contenu|cuerpo|texto|mensaje|contenido';
export const SUBJECT_WORD = 'subject line|subject|betreff|objet|sujet|asunto';
export const SUBJECT = new RegExp(
  String.raw`(?<!\p{L})(?:(?:with|under)\s+)?(?:(?:the|mit|dem|avec|con|el|pour|l['’])\s*)?(?:${SUBJECT_WORD})(?!\p{L})\s*[:：]?\s*(?:is\s+)?`,
  'iu',
);
/** Behind words in quotation marks. */
export const AS_SUBJECT = new RegExp(
  String.raw`^\s*(?:as|als|comme|como)\s+(?:(?:the|den|el|l['’])\s*)?(?:${SUBJECT_WORD})(?!\p{L})`,
  'iu',
);
export const SUBJECT_GIVEN = new RegExp(
  `${SUBJECT.source}(?:[\\uFDD0\\uFDD3]+|[^,;\\n\\uFDD0]{1,200})`,
  'iu',
);
export const TITLED =
  /(?<!\p{L})(?:titled|called|named|entitled|title|titel|namens|intitulé|titre|titulado|título|call it|nenn(?:e)? (?:es|sie|ihn)|appelle-(?:le|la)|llámal[oa])\s*[:：]?\s*$/iu;
export const LABEL = new RegExp(
  String.raw`^[ \t]*(?:(?<subject>${SUBJECT_WORD})|(?<cc>cc|kopie|copie|copia)|(?<bcc>bcc|cci|cco)|(?<to>to|an|à|para)|(?<body>${BODY_WORD}))[ \t]*[:：][ \t]*`,
  'iu',
);
export const LABEL_END = new RegExp(
  String.raw`(?<!\p{L}|(?:as|als|comme|como)\s(?:(?:the|den|el|l['’])\s?)?)(?:${SUBJECT_WORD}|cc|bcc|kopie|copie|copia|to|an|à|para|from|von)\s*$`,
  'iu',
);
/** "Text, exactly so:" on a line of its own. */
export const TEXT_LEAD = new RegExp(
  String.raw`^[ \t]*(?:the\s+|der\s+|le\s+|el\s+)?(?:${BODY_WORD})(?!\p{L})[^\n:]{0,60}[:：][ \t]*\n`,
  'iu',
);
export const BODY_END = new RegExp(String.raw`(?<!\p{L})(?:${BODY_WORD})\s*$`, 'iu');
/** What the nearest word before an address makes of it. */
export const ROLES = {
  cc: anyOf(
    'cc, cc to, copying, and copy, copied, in copy, kopie an, in kopie, in kopie an, cc an, en copie, copie à, con copia, con copia a, copia a',
  ),
  bcc: anyOf('bcc, blind copy, blind copying, blindkopie, cci, copie cachée, cco, copia oculta'),
  to: anyOf(
    `to, an, à, a, para, email, mail, e-mail, send, write, tell, ask, for, für, pour, at, unter, address is, adresse ist`,
  ),
} as const;
/** Right before an address or right behind it. */
export const NOT_TO =
  /(?<!\p{L})(?:from|not|don['’]?t|except|instead of|without|wrote|von|vom|nicht|keine?|außer|statt|ohne|de la part de|sauf|sans|sin|no|excepto|menos)\s+(?:(?:a|in|en)\s+)?(?:(?:cc|bcc|copy|copying|[Kk]opie|copie|copia)\s+)?(?:(?:to|an|à|a)\s+)?(?:\p{Lu}[\p{L}'’.-]*\s+){0,3}[<(]?$/u;
export const COPIED =
  /^[\s>)]*(?:,\s*)?(?:(?:in|on|as|auf|en)\s+(?:the\s+)?|\()(?:cc|copy|kopie|copie|copia)(?!\p{L})(?!\s*(?::?\s*\uFDD1|(?:an|to|à|a|of)(?!\p{L})))/iu;
/** Behind what a mail is to say: whoever gets a copy of it. */
export const COPIES_AT_END =
  /(?:[,;.(]|(?<=\S)\s(?:(?:and|und|et|y)\s)?)\s{0,5}(?:please\s|bitte\s)?(?:with\s)?(?:cc|in\s(?:cc|kopie)(?:\san)?|copy(?:ing)?(?:\sto)?|kopie\san|(?:en\s)?copie\sà|con\scopia\sa)\s{0,5}[:：]?\s{0,5}(?:to\s)?[<(]?\uFDD1+[>)]?(?:\s{0,5}(?:,|&|(?:and|und|et|y)\s)\s{0,5}[<(]?\uFDD1+[>)]?){0,20}[\s.!)]*$/iu;
export const NEGATED =
  /(?:(?<!\p{L})(?:don['’]?t|do not|never|not to|please no|ne|no)\s+(?!forget)(?:\p{L}+\s+){0,2}$|(?<!\p{L})n['’]$)/iu;
export const NEGATED_AFTER =
  /(?<!\p{L}|vergiss )(?:nicht|nichts|niemals|keine|keinen|keinesfalls)(?!\p{L})/iu;
export const CLAUSE =
  /(?:[,;]\s{0,5}|\s{1,5})(?:(?:and|also|und|et|y|then|dann|danach|außerdem|puis|ensuite|luego|plus|sowie|außerdem)\s+)(?:(?:also|then|please|finally|auch|dann|bitte|noch|aussi|ensuite|también|luego)\s+)*|;\s{1,5}|,\s{1,5}(?=(?:\p{L}+\s){1,3}(?:soll|should|must|doit|debe)(?!\p{L}))|,\s{1,5}(?=(?:tell|ask|have|get|let|email|e-mail|mail|record|raise|sag|frag|bitte|schick|maile|demande|dis|envoie|pide|dile|envía)(?!\p{L}))/giu;
export const SEQUENCE =
  /^\s*(?:(?:and|also|then|next|finally|lastly|first|second|third|fourth|fifth|und|auch|außerdem|dann|danach|zuletzt|schließlich|erstens|zweitens|drittens|et|puis|ensuite|enfin|aussi|y|luego|también|después|por último|please|bitte)(?!\p{L})[\s,:]*)+/iu;
export const PLEASANTRY =
  /^[\s\p{P}]*(?:(?:thanks|thank you|thx|cheers|hi|hello|hey|there|good morning|please|a lot|so much|very much|many|in advance|danke|vielen|dank|schon mal|im voraus|hallo|guten morgen|viele grüße|merci|d'avance|beaucoup|bonjour|gracias|muchas|hola|buenos días)[\s\p{P}]*)+$/iu;
export const WHEN = anyOf(
  'every, each, daily, weekly, monthly, when, once, if, jeden, jede, täglich, wöchentlich, wenn, sobald, falls, chaque, tous les, quand, dès, si, cada, todos los, cuando',
);
export const SEPARATELY = anyOf(
  'separately, individually, one by one, einzeln, getrennt, jeweils einzeln, séparément, individuellement, por separado',
);
export const ATTACHES = anyOf(
  'attach, attached, attaching, attachment, attachments, anhängen, anhang, angehängt, anlage, hänge, joins, joignez, pièce jointe, ci-joint, adjunta, adjunto, adjuntar',
);
/** Where two words or more stand behind it. */
export const GREETING =
  /^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|hallo|moin|guten (?:tag|morgen|abend)|liebe[rs]?|sehr geehrte[rs]?|bonjour|bonsoir|salut|ch[eè]re?|hola|buen(?:os días|as tardes|as noches)|estimad[oa])(?:\s+[^\s,!:.?]{1,30}){0,4}\s*[,!]\s+(?=[\p{L}\p{N}]+\P{L}+\p{L})/iu;
export const SIGN_OFF =
  anyOf(`regards, best, best wishes, sincerely, cheers, yours, thanks, thank you, grüße, gruß, grüßen, mfg, lg, vg, dein, deine, ihr, ihre, hochachtungsvoll,
  cordialement, bien à vous, salutations, merci, à bientôt, saludos, atentamente, un abrazo, gracias`);
export const RECORD =
  anyOf(`record, eintragen, trage ein, ajoute, ajoutez, ajouter, book, log, register, add, enter, note, be (?:recorded|booked|logged), verbucht werden, gebucht werden, erfasst werden, verbuche, verbuchen, erfasse, erfassen, buche, buchen, trage, trag, notiere,
  enregistre, enregistrez, (?:l['’])?enregistrer, (?:l['’])?enregistre[sz]?, être enregistrée?, comptabilise, (?:la |le )?comptabiliser, note, saisis, registra, registrar, apunta, apuntar, anota, contabiliza`);
export const SOURCE =
  /(?<!\p{L})(?:from|von|vom|by|de la part de|de|du|par)\s+(?!the\s+sale|recettes?|revenus?|ventes?|umsatz|einnahmen?)(?<name>[^\d\s,;:()\uFDD0-\uFDD3](?:(?!\s+(?:for|as|by|on|via|via|in|für|per|als|am|aus|pour|le|comme|por|como|el|and|und|et|y|to|today|yesterday|heute|gestern|hier|hoy|ayer|ein|eintragen|eingetragen|verbuchen|verbucht|buchen|gebucht|erfassen|erfasst|notieren|notiert|revenue|is|was|we|wir)(?!\p{L}))[^,;:()\n\uFDD0-\uFDD3.!?]|\.(?=\p{L})|(?<=(?<!\p{L})(?:Mrs?|Ms|M|Mme|Dr|St|Hr|Fr))\.){1,80})/giu;
export const SIGNAL =
  /(?<!\p{L})(?:raise|create|open|flag|log|issue|send|set|trigger|lege|leg|legen|erstelle|löse|lös|melde|setze|gib|erzeuge|lève|levez|crée|créez|déclenche|émets|lance|fais|faites|crea|lanza|levanta|emite|genera)(?!\p{L})(?:(?!(?<!\p{L})(?:about|of|on|sur|des|über|sobre)(?!\p{L}))[^\n.!?:\uFDD0]){0,60}?(?<![\p{L}-])(?:signal|warning|signals|alert|alarm|warnsignal|warnung|alerte|signalement|señal|alerta)(?!\p{L})|(?<!\p{L})(?:signal|warnsignal|warnung|alarm)\s+(?:melden|erstellen|auslösen|setzen|anlegen)(?!\p{L})|(?<!\p{L})(?:signale|signaler|signalez|señala|señalar)(?!\p{L})/iu;
export const SEVERITIES: readonly [RegExp, 'critical' | 'warning'][] = [
  [anyOf('critical, kritisch, kritische, kritisches, kritischen, critique, crítica, crítico'), 'critical'],
  [
    anyOf('warning, warn, alert, warnung, warnsignal, avertissement, alerte, advertencia, aviso, alerta'),
    'warning',
  ],
];
/** What it cannot do. */
export const UNABLE: readonly { does: string; asked: RegExp }[] = [
  {
    does: 'pay or move money',
    asked: PAYMENT,
  },
  {
    does: 'delete anything',
    asked: DELETION,
  },
  {
    does: 'change settings or switch protection off',
    asked: UNPROTECTED,
  },
  {
    does: 'stop or call back a mail (reject it where it waits for an approval)',
    asked: wanted(
      `(?:stop|recall|withdraw|unsend|hold back|stoppe|stopp|halte|widerrufe|arrête|bloque|annule|detén)(?: (?:the|that|this|my|sending|die|den|diese|le|la|l'|el))*(?: e-?mails?| mails?| messages?| nachricht| courriel| correo)`,
      'die mail stoppen',
    ),
  },
  {
    does: 'make phone calls',
    asked: wanted(
      `call, phone, ring, ruf, rufe, telefoniere, appelle, appelez, téléphone, llama, telefonea`,
      `anrufen, telefonieren, téléphoner`,
    ),
  },
  {
    does: 'post to social networks or publish anything',
    asked: wanted(
      `post, tweet, publish, share on, poste, veröffentliche, publie, publiez, partage, publica, tuitea`,
      `posten, veröffentlichen, publier`,
    ),
  },
  {
    does: 'book, order, buy or cancel anything',
    asked: wanted(
      `book, cancel, cancela, annule, annulez, storniere, reserve, order(?!\\s+(?:no|#|\\d{3})), buy, purchase, buche, reserviere, bestelle, bestell, kaufe, kauf, réserve, réservez, commande, achète, reserva, compra`,
      `reservieren, bestellen, réserver, reservar`,
    ),
  },
  {
    does: 'look anything up on the web',
    asked: wanted(
      `research, google, look up, search, find out, recherchiere, suche, such, finde, cherche, recherche, trouve, busca, investiga`,
      `recherchieren, herausfinden`,
    ),
  },
  {
    does: 'translate',
    asked: wanted(
      `translate, übersetze, übersetz, traduis, traduisez, traduce`,
      `übersetzen, traduire, traducir`,
    ),
  },
  {
    does: 'keep a calendar or remind anybody later',
    asked: wanted(
      `schedule, remind me, remind us, set a reminder, plan a meeting, arrange, reschedule, vereinbare, erinnere mich, erinnere uns, verschiebe, rappelle-moi, planifie, programme, recuérdame, agenda, programa`,
      'erinnern mich',
    ),
  },
];
const ALIASES: Readonly<Record<CapoRole, string>> = {
  capo_marketing: 'das marketing, le marketing',
  capo_revenue: 'vertrieb, verkauf, ventes, équipe commerciale, ventas',
  capo_ops: 'betrieb, logistik, logistique, opérations, operaciones, logística',
  capo_product: 'produkt, entwicklung, produktteam, produit, producto',
  ceo: '',
};
const NAMES = CAPO_ROLES.map((role) => {
  const names = [...CAPOS[role].aliases, ...ALIASES[role].split(', ')].filter((name) => name !== '');
  return `(?<${role}>${names
    .map((name) => name.replace(/^(?:the|das|le) /, ''))
    .toSorted((a, b) => b.length - a.length)
    .join('|')})`;
}).join('|');
/** "Ask marketing to ...", "sag dem Vertrieb, ...", "Ops should ..." */
export const DELEGATES = new RegExp(
  String.raw`(?<!\p{L})(?:(?:ask|have|get|tell|let|make|brief|instruct|hand|assign|delegate|frag|frage|sag|sage|bitte|beauftrage|lass|gib|demande|demandez|dis|dites|charge|confie|pide|pídele|dile|di|encarga)(?:[\s-]+(?:this|it|the|our|to|dem|der|das|die|den|unser\p{L}*|au|aux|à|la|le|les|l|a|al|el))*\s+(?:${NAMES})(?:\s+(?:team|capo))?(?!\p{L})(?!\s+(?:page|plan|copy|list|mail|e-?mail|contact|report|update))|${POLITE}(?:(?:the|das|der|die|le|la|les|el)\s+)?(?!sales\s+to\s)(?:${NAMES.replaceAll('?<', '?<own_')})(?=\s*(?::|should|must|soll|sollte|doit|debe|please)|\s+to\s+\p{Ll}))`,
  'iu',
);
export const TOPICS = {
  revenue: anyOf(
    `revenue, income, sales, turnover, earnings, earn, earned, we make, we made, money, what came in, umsatz, umsatzbericht, umsatzzahlen, umsätze, umsatzes, einnahmen, eingenommen, verdient, chiffre d'affaires, chiffre, ca, revenus, recettes, gagné, encaissé, ingresos, ganado, ventas, facturación`,
  ),
  approvals: anyOf(
    `approval, approvals, to approve, pending, waiting for me, freigabe, freigaben, genehmigung, genehmigungen, approbation, approbations, validation, validations, aprobación, aprobaciones, pendientes`,
  ),
  signals: anyOf(
    `signal, signals, alert, alerts, warnings, signale, signalen, warnungen, signaux, alertes, señales, alertas`,
  ),
  buyers: anyOf(`buyer, buyers, confidence, käufer, käufern, acheteur, acheteurs, comprador, compradores`),
  orders: anyOf(
    `standing order, standing orders, daueraufträge, dauerauftrag, daueranweisungen, ordres permanents, consignes, órdenes permanentes`,
  ),
  work: anyOf(
    `receipts, activity, activities, work packets, went out, mails sent, sent, happened, belege, aktivität, aktivitäten, erledigt, verschickt, passiert, reçus, activité, fait, envoyés, recibos, actividad, hecho, enviados`,
  ),
} as const;
export const OVERVIEW =
  anyOf(`strategic brief, brief, morning report, daily report, weekly report, status, status report, overview, where we stand, how are we doing, briefing, brief me, report, summary, lagebericht, tagesbericht,
  wochenbericht, überblick, übersicht, stand, bericht, zusammenfassung, rapport, bilan, aperçu, point, résumé, résumé hebdomadaire, informe, resumen, balance, situación`);

/** Whether it stands in the text, and where: the expressions of the tables keep no state. */
export function at(text: string, expression: RegExp): number {
  return text.search(expression);
}

/** "Tell Bob to email jane@...": the address belongs to what Bob is told. */
export const TOLD =
  /(?<!\p{L})(?:tell|ask|remind|inform|let|notify|sage?|frage?|erinnere|dis|demande|rappelle|dile|pregunta)[\s-]+[^\uFDD1,:\n]{1,40}?[\s,]+(?=(?:to|that|know|dass|ob|whether|if|de|que|zu|er soll|sie soll)\s)/iu;
/** "Could you ...?" and a verb at the beginning ask for something; every other question only asks. */
export const REQUEST = new RegExp(
  String.raw`^[^\uFDD1\n]{0,60}?(?<!\p{L})(?:(?:can|could|would|will|may)(?:n?['’]?t)? (?:you|u|we|i|somebody|someone)|(?:kannst|könntest|magst|würdest) du|(?:können|könnten|würden) sie|(?:peux|pourrais)-tu|tu (?:peux|pourrais)|(?:pouvez|pourriez)-vous|vous (?:pouvez|pourriez)|puedes?|podrías?|do (?:you|u) mind)(?!\p{L})|${POLITE}(?:${anyOf(MAIL_WORDS).source})`,
  'iu',
);
/** No verb asks for a mail, but the address stands right before a text, or right behind "a note to". */
export const ADDRESSED = new RegExp(
  String.raw`\uFDD1[\s>)]*(?::|[\uFDD0\uFDD3])|[\uFDD0\uFDD3][\s,–—-]*(?:to|an|à|a|para)?\s*\uFDD1|(?:^|\n)[ \t]*(?:to|an|à|para)[ \t]*[:：][^\n]*\uFDD1|${POLITE}(?:(?:a|an|one|the|eine?n?|une?)\s+)?(?:(?:quick|short|friendly|little|nice|kurze|nette|freundliche|petit|gentil|breve)\s+)*(?:${MAIL_NOUN.source})[^\n]*\uFDD1`,
  'iu',
);
/** "Write jane@...", "prepare something for jane@..." */
export const WRITES_TO = new RegExp(
  String.raw`(?<!\p{L})(?:to|for|an|für|à|pour|a|para|write)\s+(?:\S{1,30}\s+){0,4}[<(]?\uFDD1|${MAIL_NOUN.source}[^\n]*\uFDD1`,
  'iu',
);
/** Asked for by its name alone. */
export const REPORT =
  /^[\s,]*(?:(?:please|bitte|the|a|an|my|our|ein|einen|un|le|el)\s+)*(?:\p{L}+\s+)?(?:report|overview|summary|status|\p{L}*bericht|\p{L}*übersicht|überblick|rapport|bilan|aperçu|informe|resumen)(?!\p{L})/iu;
/** Where a message begins that somebody else wrote; it ends with the text, or where the line is drawn again. */
export const PASTED =
  /^[ \t]*(?:-{3,}[^\n]*|(?:begin forwarded message|(?:original|forwarded) message|(?:weitergeleitete|ursprüngliche) nachricht|message (?:transféré|d['’]origine)|mensaje (?:reenviado|original))[ \t]*:?[ \t]*|>.*(?:\n[ \t]*>.*)*|(?:from|von|de)[ \t]*:[^\n]*\uFDD1[^\n]*)$/gimu;

/** Right before an address that is only spoken of: "the complaint of nina@...", "die Mail von ..." */
export const ABOUT =
  /(?<!\p{L})(?:of|about|regarding|concerning|über|bezüglich|wegen|concernant|sobre|de)\s+(?:(?:mr|mrs|ms|herrn?|frau|m|mme)\.?\s+)?(?:\p{Lu}[\p{L}'’-]+\s+){0,3}[<(]?$/u;
/** Right behind an address that is only spoken of: "rita@... is on holiday". */
export const IS_SUBJECT =
  /^[>)]?,?\s+(?:is|are|was|were|has|had|will|won['’]?t|can['’]?t|says?|said|wrote|wants|asked|ist|sind|war|hat|hatte|wird|kann|sagt|schrieb|est|sont|était|a\s+(?:dit|écrit|demandé)|va|está|es|tiene)(?!\p{L})/iu;
/** Between an address and the next one of the same list: a separator, and at most the name that the next one has. */
export const NAMED_NEXT =
  /^[\s>)]*(?:(?:[,;&+\n]|(?:and|und|et|y|or|as well as|plus|also|auch|aussi|both|then|danach|dann|noch|puis|luego|to|an|à|a|cc|for|für|pour)(?!\p{L}))[\s:]*){0,4}(?:\p{Lu}[\p{L}'’.-]*\s+){0,4}[<(]?$/u;
export const AS_WELL = anyOf('also, too, as well, auch, aussi, también');
/** At the end of a sentence. */
export const TOO = /(?<!\p{L})(?:too|also|as well|auch|aussi|también)[\s.!]*$/iu;
/** What may name one more recipient within a description: "and her brother too", "and one to bob@...", "und Bob, dass" */
export const ALSO =
  /(?:,|\s(?:and|und|et|y))\s(?:(?:and|und|et|y)\s)?(?:[^,\n]{1,40}\s(?:too|also|as well|auch|aussi|también)(?=[\s.!]*$)|(?:(?:\p{Ll}+\s)?(?:to|an|à|a)\s)?[<(]?\uFDD1+|(?:(?:to|an|à|a)\s)?\p{Lu}[\p{L}'’-]+,?\s(?:that|dass|que|qu['’]))/u;
/** A name that stands for a recipient beside an address. */
export const NAME_IN_LIST =
  /(?<=[,\s])(?<before>\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)\s{0,5}(?:,|\s(?:and|und|et|y|&))\s{1,5}(?=[<(]?\uFDD1)|\uFDD1[>)]?\s(?:and|und|et|y|&)\s{1,5}(?:(?:to|an|à|a)\s)?(?<behind>(?:\p{Ll}{1,20}\s){0,3}\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?)(?=\s{0,5}(?:[:,.\uFDD0\uFDD3]|$))/gu;
/** The first words of a line such as "Signal: the fridge is broken". */
export const SIGNAL_LABEL =
  /^[\s,]*(?:(?:new|neues|neue|nouveau|nouvelle|critical|kritische[sr]?)\s+)?(?:signal|warning|alert|alarm|warnung|warnsignal|avertissement|alerte|signalement|señal|advertencia|alerta)\s*[:：]\s*$/iu;
export const NOTE_LABEL = /^[\s,]*(?:note|memo|notiz|vermerk|nota)\s*[:：]\s*$/iu;
/** "Umsatz 45 Euro von ...", "Revenue: 120 EUR from ..." */
export const REVENUE_LABEL = new RegExp(
  String.raw`${POLITE}(?:revenue|income|umsatz|einnahmen?|recettes?|encaissement|ingresos?)\s*(?:[:：]\s*)?(?=[€$£]?\s?\d)`,
  'iu',
);
/** "Book it." */
export const BOOK_IT = new RegExp(
  String.raw`${POLITE}(?:book|record|log|enter|verbuche|buche|erfasse|notiere)\s+(?:it|that|this|them|das|es|bitte)(?:[\s\p{P}]|please|pls|bitte)*$`,
  'iu',
);
/** What was asked for before may no longer hold. */
export const TAKEN_BACK = anyOf(
  `scratch that, actually no, no wait, wait no, on second thought, never mind that, forget that, doch nicht, vergiss das, non finalement, finalement non, oublie ça, mejor no, olvida eso`,
);
/** Nobody's name. */
export const NO_NAME =
  /^(?:her|him|them|it|me|us|ihr|ihm|ihnen|uns|mir|elle|lui|eux|elles|nous|ella|él|ellos|nosotros)$/iu;
/** "record -30 EUR" */
export const NEGATIVE = /(?:^|\s)(?:[-−](?:[€$£]\s?)?\d|(?:minus|moins|menos)\s+[€$£]?\d)/iu;
/** Where a new sentence, or an ask behind "and", begins within a message. */
export const NEXT_SENTENCE =
  /[.!?…\uFDD3]+\s+|\n\s*|[,;]?\s(?:and|und|et|y)\s(?=(?:also|auch|tell|let|email|notify|inform|sag|sage|schreib|schick|dis|écris|préviens|envoie|dile|avisa|escribe)(?!\p{L}))/giu;
