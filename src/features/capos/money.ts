import { CURRENCIES } from '../../platform/kernel/currency.js';
import { LIMITS } from './action-params.js';

/** Sums of money in running text. */
export interface Money {
  amount: number | undefined;
  /** ISO 4217 */
  currency: string;
  text: string;
  index: number;
}

const MARKS: Readonly<Record<string, string>> = {
  $: 'USD',
  us$: 'USD',
  a$: 'AUD',
  c$: 'CAD',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  zł: 'PLN',
  dollar: 'USD',
  dollars: 'USD',
  euro: 'EUR',
  euros: 'EUR',
  pound: 'GBP',
  pounds: 'GBP',
  pfund: 'GBP',
  franken: 'CHF',
  francs: 'CHF',
  dólares: 'USD',
  livres: 'GBP',
  yen: 'JPY',
};
/** In small letters too; "try" and "all" are currencies only in capitals. */
export const USUAL_CODES = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'CAD', 'AUD'];
const MARK = String.raw`(?:us|a|c)?\$|[€£¥₹]|zł|dollars?|euros?|pounds?|pfund|franken|francs|dólares|livres|yen|[A-Z]{3}`;
const NUMBER = String.raw`\d{1,15}(?:[.,'’ \u00a0\u202f]\d{3}(?!\d)){0,4}(?:[.,]\d{1,4}(?!\d))?`;
const MONEY = new RegExp(
  String.raw`(?<![\p{L}\p{N}.,/@#-])(?:(?<before>${MARK})\s?)?(?<digits>${NUMBER})(?:\s?(?<times>k|thousand|million|tausend|mille|mil)(?!\p{L}))?(?:\s?(?<after>${MARK})(?!\p{L}))?(?![\p{N}%:/@-])`,
  'giu',
);

/** What is written with its currency; `amount` is undefined where the notation can be read in two ways. */
export function moneyIn(text: string): Money[] {
  return [...text.matchAll(MONEY)].flatMap(({ 0: whole, groups, index }) => {
    const { before, digits, times, after } = groups!;
    const currency = currencyOf(before) ?? currencyOf(after);
    if (currency === undefined) return [];
    // "Log 80 EUR": a word of three letters is no part of the sum.
    const from = currencyOf(before) === undefined ? whole.indexOf(digits!) : 0;
    return [
      {
        text: whole.slice(from).trim(),
        index: index + from,
        currency,
        amount: times ? timesOf(digits!, times) : numberOf(digits!),
      },
    ];
  });
}

function currencyOf(mark: string | undefined): string | undefined {
  if (mark === undefined) return undefined;
  return (
    MARKS[mark.toLowerCase()] ??
    (CURRENCIES.has(mark) || USUAL_CODES.includes(mark.toUpperCase()) ? mark.toUpperCase() : undefined)
  );
}

/** "1.2k" and "3 million"; undefined for "1.200k" and "2 mil", which can be read in two ways. */
function timesOf(digits: string, times: string): number | undefined {
  const factor = /^million/i.test(times) ? 1_000_000 : 1_000;
  const isPlain = !/^mil$/i.test(times) && /^\d+(?:[.,]\d{1,2})?$/.test(digits);
  const amount = isPlain ? Number(digits.replace(',', '.')) * factor : 0;
  return amount > 0 && amount <= LIMITS.amount ? Math.round(amount) : undefined;
}

/** "1.200,50", "1,200.50", "1 200,50" and "1,200"; undefined for "0.125", which is neither thousands nor money. */
function numberOf(digits: string): number | undefined {
  const compact = digits.replace(/['’\s]/g, '');
  const [, whole = '', fraction = ''] = /^(.*?)(?:[.,](\d{1,2}|\d{4}))?$/.exec(compact)!;
  const separators = new Set(whole.match(/[.,]/g));
  if (separators.size > 1 || (separators.size === 1 && !/^[1-9]\d{0,2}([.,]\d{3})+$/.test(whole)))
    return undefined;
  const value = Number(`${whole.replace(/[.,]/g, '')}.${fraction || 0}`);
  return value > 0 && value <= LIMITS.amount ? value : undefined;
}
