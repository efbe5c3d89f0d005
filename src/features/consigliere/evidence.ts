import { cutText } from '../../platform/kernel/text.js';
import type { StandingOrderBrief } from '../capos/briefing.js';
import { findMoney } from '../capos/builtin/money.js';
import { readRevenue } from '../capos/builtin/revenue.js';
import { stem } from '../capos/builtin/text.js';
import { CAPO_ROLES, CAPOS, capoCalled, type Capo, type CapoRole } from '../capos/capo.js';

/** What speaks for a capo in a directive, its context and the standing orders, and how much. */
export interface Evidence {
  weight: number;
  why: string;
  /** Position in the text; what is only implied counts as last. */
  at: number;
}

/** An alias decides it, a core word nearly does, a hint leans; context and orders weigh like words of their kind. */
export const WEIGHT = { named: 5, core: 3, hint: 1, order: 1.5, capability: 1 } as const;
export const NOWHERE = Number.MAX_SAFE_INTEGER;
/** Of a standing order's or a directive's text: no person writes more. */
const MAX_TEXT = 8_000;

export type Add = (role: CapoRole, item: Evidence) => void;

interface Word {
  stem: string;
  text: string;
}

export function wordsOf(text: string): Word[] {
  // Addresses and links name companies, not domains: sales@example.com is no reason for Revenue.
  const bare = cutText(text, MAX_TEXT, '').replace(/[^\s@]{1,64}@[^\s@]{1,100}|https?:\/\/\S{1,500}/gi, ' ');
  const words = bare.match(/[\p{L}\p{N}_]+(?:['’]\p{L}+)?/gu) ?? [];
  return words.map((word) => ({ text: word, stem: stem(word) }));
}

interface Term {
  role: CapoRole;
  stems: string[];
  weight: number;
}

/** Longest first, so that "press release" is read before "release". */
const TERMS: readonly Term[] = CAPO_ROLES.flatMap((role) => {
  const { aliases, vocabulary }: Capo = CAPOS[role];
  const terms = (list: readonly string[], weight: number) =>
    list.map((term) => ({ role, weight, stems: term.replace(/^the /, '').split(' ').map(stem) }));
  return [
    ...terms(aliases, WEIGHT.named),
    ...terms(vocabulary.core, WEIGHT.core),
    ...terms(vocabulary.hints, WEIGHT.hint),
  ];
}).toSorted((a, b) => b.stems.length - a.stems.length || b.weight - a.weight);

const TERMS_BY_FIRST_STEM: ReadonlyMap<string, readonly Term[]> = Map.groupBy(
  TERMS,
  ({ stems }) => stems[0] ?? '',
);

export function wordEvidence(words: readonly Word[], add: Add): void {
  const counted = new Set<string>();
  for (let at = 0; at < words.length;) {
    const matches = termsAt(words, at);
    const length = Math.max(1, ...matches.map(({ stems }) => stems.length));
    for (const { role, stems, weight } of matches) {
      const key = `${role} ${stems.join(' ')}`;
      if (counted.has(key)) continue;
      counted.add(key);
      const said = words.slice(at, at + stems.length).map(({ text }) => text.toLowerCase());
      add(role, { weight, why: said.join(' '), at });
    }
    at += length;
  }
}

/** The terms that start here, only the longest of them: a part of "press release" is no word of its own. */
function termsAt(words: readonly Word[], at: number): readonly Term[] {
  const candidates = TERMS_BY_FIRST_STEM.get(words[at]?.stem ?? '') ?? [];
  const matching = candidates.filter(({ stems }) =>
    stems.every((one, offset) => words[at + offset]?.stem === one),
  );
  const longest = Math.max(0, ...matching.map(({ stems }) => stems.length));
  const best = matching.filter(({ stems }) => stems.length === longest);
  // "product" is both an alias and a word: the heavier reading per capo counts.
  return best.filter(({ role }, index) => best.findIndex((other) => other.role === role) === index);
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

/** "record 1,200 EUR from Acme" has no word of a domain, yet the ledger is Revenue's. */
export function moneyEvidence(text: string, add: Add): void {
  const sum = findMoney(text)[0];
  if (sum === undefined) return;
  const weight = readRevenue(text) === undefined ? WEIGHT.hint : WEIGHT.core;
  add('capo_revenue', { weight, why: sum.text, at: sum.index });
}
