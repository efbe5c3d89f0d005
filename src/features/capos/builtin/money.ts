/** Sums of money in running text, in the spellings people really use: `1.200,50 EUR`, `$1,200`, `€500`, `2k`. */

export interface Money {
  /** As written. */
  text: string;
  index: number;
  amount: number;
  /** ISO 4217; null when the text names no currency ("2k"). */
  currency: string | null;
}

const SYMBOLS: Readonly<Record<string, string>> = {
  $: 'USD', us$: 'USD', a$: 'AUD', c$: 'CAD', nz$: 'NZD', hk$: 'HKD', s$: 'SGD', r$: 'BRL',
  '€': 'EUR', '£': 'GBP', '¥': 'JPY', '₹': 'INR', '₩': 'KRW', '₺': 'TRY', '₴': 'UAH', '₪': 'ILS', 'zł': 'PLN',
  dollar: 'USD', dollars: 'USD', bucks: 'USD', euro: 'EUR', euros: 'EUR', pound: 'GBP', pounds: 'GBP',
  yen: 'JPY', rupees: 'INR', franc: 'CHF', francs: 'CHF', eur: 'EUR', usd: 'USD', gbp: 'GBP', chf: 'CHF',
}; // prettier-ignore

const CODES = new Set(Intl.supportedValuesOf('currency'));
const MAGNITUDES: Readonly<Record<string, number>> = {
  k: 1e3, thousand: 1e3, m: 1e6, mn: 1e6, million: 1e6, bn: 1e9, billion: 1e9,
}; // prettier-ignore

/** Digits with either grouping; Swiss apostrophes and (no-break) spaces group in threes only. */
const NUMBER = String.raw`\d{1,15}(?:(?:[.,'’\s]\d{3}(?!\d)){0,4}(?:[.,]\d{1,4}(?!\d))?)(?![.,]?\d)`;
const SYMBOL = String.raw`(?:us|a|c|nz|hk|s|r)?\$|[€£¥₹₩₺₴₪]`;
/** Glued to the number ("EUR500") only the usual ones: `abc500` is an article number. */
const CODE = 'eur|usd|gbp|chf|jpy|cad|aud';
const WORD = String.raw`zł|dollars?|bucks|euros?|pounds?|yen|rupees|francs?|[a-z]{3}`;

const MONEY = new RegExp(
  String.raw`(?<![\p{L}\p{N}.,/@#:-])(?:(?<before>${SYMBOL}|[a-z]{3}(?=\s)|${CODE})\s?)?(?<digits>${NUMBER})` +
    String.raw`(?:\s?(?<magnitude>k|thousand|mn|million|m|bn|billion)(?![\p{L}\p{N}]))?` +
    String.raw`(?:\s?(?<after>${SYMBOL}|(?:${WORD})(?![\p{L}\p{N}])))?(?!\s?%|[\p{L}\p{N}:/@-])`,
  'giu',
);

/** Every sum in the text. A bare number is money only with a magnitude ("2k"): "3 boxes" and "5 m" are not. */
export function findMoney(text: string): Money[] {
  const found: Money[] = [];
  for (const match of text.matchAll(MONEY)) {
    const { before, digits = '', magnitude = '', after } = match.groups ?? {};
    const leading = currencyOf(before);
    const trailing = currencyOf(after);
    const currency = leading ?? trailing;
    if (currency === null && !/^(?:k|million|bn|billion)$/i.test(magnitude)) continue;
    const amount = numberOf(digits) * (MAGNITUDES[magnitude.toLowerCase()] ?? 1);
    if (!(amount > 0) || amount > Number.MAX_SAFE_INTEGER) continue;
    // A word beside the number that is no currency belongs to the sentence: "off 50 euros", "USD 500 for".
    const start = leading === null ? match[0].indexOf(digits) : 0;
    const end = trailing === null && after !== undefined ? match[0].length - after.length : match[0].length;
    const written = match[0].slice(start, end).trim();
    found.push({ text: written, index: match.index + start, amount: Number(amount.toFixed(4)), currency });
  }
  return found;
}

function currencyOf(mark: string | undefined): string | null {
  if (mark === undefined) return null;
  const known = SYMBOLS[mark.toLowerCase()];
  if (known !== undefined) return known;
  // Codes only in capitals: "try", "all" and "top" are currencies too.
  return CODES.has(mark) ? mark : null;
}

/** The last separator is the decimal one, unless exactly three digits follow it and nothing contradicts grouping. */
function numberOf(digits: string): number {
  const compact = digits.replace(/['’\s]/g, '');
  const last = Math.max(compact.lastIndexOf('.'), compact.lastIndexOf(','));
  if (last === -1) return Number(compact);
  const mark = compact.charAt(last);
  const other = mark === '.' ? ',' : '.';
  const repeated = compact.indexOf(mark) !== last;
  const grouping = repeated || (compact.length - last - 1 === 3 && !compact.includes(other));
  const whole = compact.slice(0, grouping ? compact.length : last).replace(/[.,]/g, '');
  return Number(grouping ? whole : `${whole}.${compact.slice(last + 1)}`);
}

/** "EUR 1,200.50", the same on every machine. */
export function spokenMoney(amount: number, currency: string): string {
  const digits = Number.isInteger(amount) ? 0 : 2;
  const number = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: 4 });
  return `${currency} ${number.format(amount)}`;
}
