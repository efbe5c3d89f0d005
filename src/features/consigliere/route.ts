import { cutText } from '../../platform/kernel/text.js';
import {
  type CapoRole,
  type StandingOrderBrief,
  WORD_WEIGHT,
  type Word,
  capoCalled,
  domainWords,
  moneyIn,
  wordsOf,
  ACTION_TYPES,
  CAPOS,
  CAPO_ROLES,
  engineOf,
  movesIn,
} from '../capos/index.js';
import type { Priority } from '../terms/index.js';

/** What speaks for a capo in a directive, its context and the standing orders, and how much. */
interface Evidence {
  weight: number;
  why: string;
  /** Position in the text; what is only implied counts as last. */
  at: number;
}

/** An alias decides it, a core word nearly does, a hint leans; context and orders weigh like words of their kind. */
const WEIGHT = { ...WORD_WEIGHT, order: 1.5, capability: 1, booked: 10 } as const;
const NOWHERE = Number.MAX_SAFE_INTEGER;

type Add = (role: CapoRole, item: Evidence) => void;

function wordEvidence(words: readonly Word[], add: Add): void {
  for (const { role, weight, said, at } of domainWords(words)) add(role, { weight, why: said, at });
}

const ADDRESS_KEYS = /^(?:capo|team|department|engine|domain|area|role)$/i;

/** A field that names a capo decides it; other fields lean, as words beside the directive do. */
function contextEvidence(context: Readonly<Record<string, unknown>> | null, add: Add): void {
  for (const [key, value] of Object.entries(context ?? {}).slice(0, 100)) {
    const text = typeof value === 'string' && value.length <= 200 ? value : '';
    const called = ADDRESS_KEYS.test(key) ? capoCalled(text) : undefined;
    if (called !== undefined) {
      add(called, { weight: WEIGHT.named, why: `context: ${key} is ${text.trim()}`, at: NOWHERE });
      continue;
    }
    wordEvidence(wordsOf(`${key.replace(/[_-]/g, ' ')} ${text}`), (role, { weight, why }) =>
      add(role, { weight: Math.min(weight, WEIGHT.core) / 3, why: `context: ${why}`, at: NOWHERE }),
    );
  }
}

/** An order that names few capos and speaks of the same thing shows whose thing it is; one that forbids it doesn't. */
function orderEvidence(words: readonly Word[], orders: readonly StandingOrderBrief[], add: Add): void {
  const said = new Set(words.map((word) => word.stem).filter((one) => one.length > 3));
  for (const { name, text, effect, capos } of orders) {
    if (capos.length === 0 || capos.length > 2 || effect === 'deny') continue;
    const shared = new Set(
      wordsOf(`${name} ${text}`)
        .map((word) => word.stem)
        .filter((one) => said.has(one)),
    );
    if (shared.size < 2) continue;
    for (const role of capos)
      add(role, { weight: WEIGHT.order, why: `standing order “${name}”`, at: NOWHERE });
  }
}

/**
 * "record 1,200 EUR from Acme" has no word of a domain, yet the ledger is Revenue's.
 * @param isCalled whether the context names the capo
 */
function moneyEvidence(text: string, isCalled: boolean, add: Add): void {
  const sum = moneyIn(text)[0];
  if (sum === undefined) return;
  const weight =
    isPlainRevenue(text) && !isCalled ? WEIGHT.booked : RECORDED.test(text) ? WEIGHT.core : WEIGHT.hint;
  add('capo_revenue', { weight, why: sum.text, at: sum.index });
}

/** "Log 80 USD from ...", "We received 50 EUR ..." at the beginning: whatever else is named there is where it came from. */
function isPlainRevenue(text: string): boolean {
  const lead = BOOKED.exec(text)?.[0];
  return lead !== undefined && moneyIn(text).some(({ index }) => index === lead.length);
}

const BOOKED =
  /^\s*(?:(?:please|pls|bitte|can you|could you|kannst du)\s+)?(?:(?:record|book|log|register|verbuche|erfasse|buche|enregistrez?|comptabilise|registra|anota)|(?:we|i)(?:['’]ve| have)?(?: just)? (?:received|got|were paid|got paid)|(?:wir|ich) (?:haben|habe)|(?:on a|nous avons) (?:reçu|encaissé)|hemos (?:recibido|cobrado))\s+(?:(?:bitte|a|an|the|another|us|revenue|income|sales?|of|umsatz|einnahmen?|von|umsatz von|revenu|de|ingresos?)\s+)*/iu;
const RECORDED =
  /(?<!\p{L})(?:record|book|log|register|verbuche|erfasse|buche|enregistre|comptabilise|registra|anota|verbuchen|erfassen)(?!\p{L})/iu;

/**
 * Which capo a directive belongs to, by the words it uses. Every capo gets a score and the words that made it, so an
 * operator can see why, and disagree. No model, no state: the same directive goes the same way.
 */
export interface RouteRequest {
  text: string;
  priority: Priority;
  context: Readonly<Record<string, unknown>> | null;
  standingOrders: readonly StandingOrderBrief[];
}

interface RouteCandidate {
  capo: CapoRole;
  /** 0 to 1 */
  score: number;
  /** The words and facts that speak for this capo. */
  why: string[];
}

export interface Routing {
  capo: CapoRole;
  /** All five, the best first. */
  candidates: RouteCandidate[];
  reason: string;
}

export function routeDirective(request: RouteRequest): Routing {
  const evidence = new Map<CapoRole, Evidence[]>(CAPO_ROLES.map((role) => [role, []]));
  const add = (role: CapoRole, item: Evidence) => evidence.get(role)?.push(item);
  // Longer directives are judged by their beginning.
  const text = cutText(request.text, MAX_TEXT, '');
  const words = wordsOf(text);
  wordEvidence(words, add);
  contextEvidence(request.context, add);
  orderEvidence(words, request.standingOrders, add);
  const isCalled = [...evidence.values()].some((items) =>
    items.some(({ at, weight }) => at === NOWHERE && weight >= WEIGHT.named),
  );
  moneyEvidence(text, isCalled, add);
  const spoken = CAPO_ROLES.some((role) => evidence.get(role)?.length);
  if (WANTS_MAIL.test(text)) {
    for (const role of MAIL_SENDERS)
      add(role, { weight: WEIGHT.capability, why: 'can send mail', at: NOWHERE });
  }
  const ranked = CAPO_ROLES.map((role) => candidate(role, evidence.get(role) ?? [])).toSorted(
    (a, b) => b.score - a.score || tieBreak(a, b, request.priority),
  );
  const chosen = choose(ranked, spoken, text);
  return {
    capo: chosen.capo,
    candidates: ranked
      .toSorted((a, b) => Number(b.capo === chosen.capo) - Number(a.capo === chosen.capo))
      .map(({ capo, score, why }) => ({ capo, score, why })),
    reason: chosen.reason,
  };
}

const MAX_TEXT = 8_000;

/** Of a capo that is called by its name. */
const NAMED_SCORE = 0.62;
type Ranked = RouteCandidate & { first: number };
const WANTS_MAIL = /\b(?:e-?mail|mail|write to|reply to|remind|notify|follow up with)\b|\S@\S{1,253}\.\S/i;
const MAIL_SENDERS: readonly CapoRole[] = ['capo_ops', 'capo_revenue', 'capo_marketing'];

function candidate(capo: CapoRole, evidence: readonly Evidence[]): Ranked {
  const sum = evidence.reduce((total, { weight }) => total + weight, 0);
  return {
    capo,
    // Saturating: the fifth word of a domain says less than the first.
    score: Math.round((sum / (sum + 3)) * 100) / 100,
    why: [...new Set(evidence.toSorted((a, b) => b.weight - a.weight || a.at - b.at).map(({ why }) => why))],
    first: Math.min(NOWHERE, ...evidence.map(({ at }) => at)),
  };
}

/** In a hurry what touches money and delivery goes first; otherwise what the operator mentioned first. */
const HASTE: readonly CapoRole[] = ['capo_revenue', 'capo_ops', 'capo_marketing', 'capo_product', 'ceo'];

function tieBreak(a: Ranked, b: Ranked, priority: Priority): number {
  const haste = HASTE.indexOf(a.capo) - HASTE.indexOf(b.capo);
  return priority === 'high' ? haste : a.first - b.first || haste;
}

function choose(
  ranked: readonly Ranked[],
  spoken: boolean,
  text: string,
): { capo: CapoRole; reason: string } {
  const addressed = CAPO_ROLES.filter((role) => role !== 'ceo' && handsTo(text, role));
  if (addressed.length > 1) {
    const names = addressed.map((role) => CAPOS[role].name).join(' and ');
    return {
      capo: 'ceo',
      reason: `Work for ${names} is named in one directive, so the CEO capo divides it.`,
    };
  }
  // What goes to an address needs a capo that sends mail, whatever the message speaks of; so does each other move.
  const moves = movesIn(text);
  const isNamed = addressed.length > 0 || (ranked[0]?.score ?? 0) >= NAMED_SCORE;
  const isMail = /\S@\S{1,253}\.\S/.test(text) && !isNamed && moves.length === 0;
  const able = ranked.filter(
    ({ capo }) =>
      (!isMail || MAIL_SENDERS.includes(capo)) &&
      moves.every((move) => ACTION_TYPES[move].engines.includes(engineOf(capo))),
  );
  const [best, second] = able;
  if (moves.length > 0 && able.length > 0 && (best?.score ?? 0) === 0) {
    const { capo } = able.find((each) => each.capo === 'capo_ops') ?? best!;
    return {
      capo,
      reason: `Nothing in it points to a single domain; ${CAPOS[capo].name} can do what it asks for.`,
    };
  }
  if (best === undefined || best.score === 0) {
    return {
      capo: 'ceo',
      reason: 'Nothing in it points to a single domain, so it goes to the CEO capo, who can delegate it.',
    };
  }
  if (!spoken) {
    return {
      capo: 'capo_ops',
      reason: 'Nothing in it points to a single domain; it asks for a mail, and Ops sends mail.',
    };
  }
  const name = nameOf(best.capo);
  const because = `${name} fits best: the directive mentions ${quoted(best.why)}.`;
  if (second === undefined || second.score === 0) return { capo: best.capo, reason: because };
  if (second.score === best.score) {
    const tie = `${name} and ${nameOf(second.capo)} fit equally well (${quoted(best.why)}; ${quoted(second.why)}).`;
    const rule =
      best.first === second.first ? `${name} takes precedence for such work.` : `${name} is named first.`;
    return { capo: best.capo, reason: `${tie} ${rule}` };
  }
  return {
    capo: best.capo,
    reason: `${because} ${nameOf(second.capo)} came second (${quoted(second.why)}).`,
  };
}

/** "have marketing write ..., ask ops to ..." */
function handsTo(text: string, role: CapoRole): boolean {
  return HANDED_TO.get(role)?.test(text) ?? false;
}

const HANDED_TO: ReadonlyMap<CapoRole, RegExp> = new Map(
  CAPO_ROLES.map((role) => {
    const names = CAPOS[role].aliases.map((alias) => alias.replace(/^the /, '')).join('|');
    const to = String.raw`\b(?:have|get|let|make|ask|tell|want|need|to|brief)\s+(?:the\s+|our\s+)?`;
    return [
      role,
      new RegExp(String.raw`${to}(?:${names})\b(?!\s+(?:page|plan|copy|list|mail|e-?mail|contact))`, 'i'),
    ];
  }),
);

function nameOf(role: CapoRole): string {
  return role === 'ceo' ? 'The CEO capo' : CAPOS[role].name;
}

function quoted(why: readonly string[]): string {
  return why
    .slice(0, 3)
    .map((each) => (/^(?:context|standing order|can send)/.test(each) ? each : `“${each}”`))
    .join(', ');
}
