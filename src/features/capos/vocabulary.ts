import { cutText } from '../../platform/kernel/text.js';
import { type Capo, CAPO_ROLES, type CapoRole, CAPOS } from './capo.js';

/** Which words of a text belong to which capo's domain. */

/** An alias decides it, a core word nearly does, a hint leans. */
export const WORD_WEIGHT = { named: 5, core: 3, hint: 1 } as const;
/** Of a directive's or a standing order's text: no person writes more. */
const MAX_TEXT = 8_000;

export interface Word {
  stem: string;
  text: string;
}

export interface DomainWord {
  role: CapoRole;
  weight: number;
  /** As it is written. */
  said: string;
  /** The position of its first word. */
  at: number;
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
  /** As its words begin: "market" is not Marketing. */
  beginnings: string[];
  weight: number;
}

/** Longest first, so that "press release" is read before "release". */
const TERMS: readonly Term[] = CAPO_ROLES.flatMap((role) => {
  const { aliases, vocabulary }: Capo = CAPOS[role];
  const terms = (list: readonly string[], weight: number) =>
    list.map((term) => {
      const said = term.replace(/^the /, '').split(' ');
      return { role, weight, stems: said.map(stem), beginnings: weight === WORD_WEIGHT.named ? said : [] };
    });
  return [
    ...terms(aliases, WORD_WEIGHT.named),
    ...terms(vocabulary.core, WORD_WEIGHT.core),
    ...terms(vocabulary.hints, WORD_WEIGHT.hint),
  ];
}).toSorted((a, b) => b.stems.length - a.stems.length || b.weight - a.weight);

const TERMS_BY_FIRST_STEM: ReadonlyMap<string, readonly Term[]> = Map.groupBy(
  TERMS,
  ({ stems }) => stems[0] ?? '',
);

const FIGURES =
  /(?<!\p{L})(?:reports?|overview|status|summary|brief(?:ing)?|how (?:many|much)|revenue|income|sales|approvals?|signals?|alerts?|buyers?|bericht|tagesbericht|überblick|übersicht|stand|zusammenfassung|wie ?viele?|umsatz|umsätze|einnahmen|freigaben?|signale|rapport|bilan|résumé|aperçu|combien|chiffre|revenus|approbations?|signaux|informe|resumen|cuánt[oa]s?|ingresos|ventas|aprobaciones|señales)(?!\p{L})/iu;

/** Whether it may ask for what the workspace counted: only then is that looked up. */
export function speaksOfFigures(text: string): boolean {
  return FIGURES.test(text);
}

/** Each term of a domain once. */
export function domainWords(words: readonly Word[]): DomainWord[] {
  const counted = new Set<string>();
  const found: DomainWord[] = [];
  for (let at = 0; at < words.length;) {
    const matches = termsAt(words, at);
    const length = Math.max(1, ...matches.map(({ stems }) => stems.length));
    for (const { role, stems, weight } of matches) {
      const key = `${role} ${stems.join(' ')}`;
      if (counted.has(key)) continue;
      counted.add(key);
      const said = words.slice(at, at + stems.length).map(({ text }) => text.toLowerCase());
      found.push({ role, weight, said: said.join(' '), at });
    }
    at += length;
  }
  return found;
}

/** The terms that start here, only the longest of them: a part of "press release" is no word of its own. */
function termsAt(words: readonly Word[], at: number): readonly Term[] {
  const candidates = TERMS_BY_FIRST_STEM.get(words[at]?.stem ?? '') ?? [];
  const matching = candidates.filter(
    ({ stems, beginnings }) =>
      stems.every((one, offset) => words[at + offset]?.stem === one) &&
      beginnings.every((one, offset) => words[at + offset]!.text.toLowerCase().startsWith(one)),
  );
  const longest = Math.max(0, ...matching.map(({ stems }) => stems.length));
  const best = matching.filter(({ stems }) => stems.length === longest);
  // "product" is both an alias and a word: the heavier reading per capo counts.
  return best.filter(({ role }, index) => best.findIndex((other) => other.role === role) === index);
}

/** Deliberately light: invoice and invoices, ship and shipping meet, little else does. */
function stem(word: string): string {
  let root = word.toLowerCase().replace(/['’]s?$/, '');
  if (root.length > 4) root = root.replace(/ies$/, 'y').replace(/(?<=s|x|z|ch|sh)es$/, '');
  if (root.length > 3) root = root.replace(/(?<![su])s$/, '');
  if (root.length > 5) root = root.replace(/(?:ing|ed)$/, '').replace(/([bdgmnprt])\1$/, '$1');
  return root.length > 3 ? root.replace(/e$/, '') : root;
}
