import {
  type CapoRole,
  type StandingOrderBrief,
  WORD_WEIGHT,
  type Word,
  capoCalled,
  domainWords,
  moneyIn,
  wordsOf,
} from '../capos/index.js';

/** What speaks for a capo in a directive, its context and the standing orders, and how much. */
export interface Evidence {
  weight: number;
  why: string;
  /** Position in the text; what is only implied counts as last. */
  at: number;
}

/** An alias decides it, a core word nearly does, a hint leans; context and orders weigh like words of their kind. */
export const WEIGHT = { ...WORD_WEIGHT, order: 1.5, capability: 1, booked: 10 } as const;
export const NOWHERE = Number.MAX_SAFE_INTEGER;

export type Add = (role: CapoRole, item: Evidence) => void;

export function wordEvidence(words: readonly Word[], add: Add): void {
  for (const { role, weight, said, at } of domainWords(words)) add(role, { weight, why: said, at });
}

const ADDRESS_KEYS = /^(?:capo|team|department|engine|domain|area|role)$/i;

/** A field that names a capo decides it; other fields lean, as words beside the directive do. */
export function contextEvidence(context: Readonly<Record<string, unknown>> | null, add: Add): void {
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
export function orderEvidence(words: readonly Word[], orders: readonly StandingOrderBrief[], add: Add): void {
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
export function moneyEvidence(text: string, isCalled: boolean, add: Add): void {
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
