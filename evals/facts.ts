/** What can be checked in a text: addresses, links, dates, times, amounts of money and the other numbers. */
export interface Facts {
  addresses: Fact<string>[];
  links: Fact<string>[];
  dates: Fact<DayOfYear>[];
  /** As minutes of the day, in every reading: "2:30" may be in the afternoon. */
  times: Fact<number[]>[];
  amounts: Fact<Amount>[];
  /** In every reading: "2,500" and "2.500" are each two numbers. */
  numbers: Fact<number[]>[];
  weekdays: Fact<number>[];
}

export interface Fact<T> {
  /** As it stands in the text. */
  text: string;
  value: T;
}

export interface DayOfYear {
  day: number;
  month: number;
  year: number | undefined;
}

interface Amount {
  readings: number[];
  currency: string;
}

const LINK = /\b(?:https?:\/\/|www\.)[^\s<>"“”„«»]+/gi;
const BARE_DOMAIN =
  /(?<![\p{L}\d@.-])(?:[a-z\d-]+\.)+(?:example|com|org|net|io|de|fr|eu|co|uk|app|dev|info|shop)(?![\p{L}\d-])(?:\/[^\s<>"“”„«»]*)?/giu;
const ADDRESS = /[^\s<>()[\]{}"“”„«»,;:|]+@[^\s<>()[\]{}"“”„«»,;:|@]+\.\p{L}{2,}/gu;
const TRAILING = /[.,;:!?)\]}'’*_]+$/;

const MONTHS: readonly string[][] = [
  ['january', 'enero', 'januar', 'janvier', 'jan'],
  ['february', 'febrero', 'februar', 'février', 'feb', 'févr'],
  ['march', 'marzo', 'märz', 'mars', 'mar'],
  ['april', 'abril', 'avril', 'apr', 'avr'],
  ['may', 'mayo', 'mai'],
  ['june', 'junio', 'juni', 'juin', 'jun'],
  ['july', 'julio', 'juli', 'juillet', 'jul'],
  ['august', 'agosto', 'août', 'aug'],
  ['september', 'septiembre', 'septembre', 'sept', 'sep'],
  ['october', 'octubre', 'oktober', 'octobre', 'oct', 'okt'],
  ['november', 'noviembre', 'novembre', 'nov'],
  ['december', 'diciembre', 'dezember', 'décembre', 'dec', 'dez', 'déc'],
];
const WEEKDAYS: readonly string[][] = [
  ['sunday', 'domingo', 'sonntag', 'dimanche'],
  ['monday', 'lunes', 'montag', 'lundi'],
  ['tuesday', 'martes', 'dienstag', 'mardi'],
  ['wednesday', 'miércoles', 'mittwoch', 'mercredi'],
  ['thursday', 'jueves', 'donnerstag', 'jeudi'],
  ['friday', 'viernes', 'freitag', 'vendredi'],
  ['saturday', 'sábado', 'samstag', 'sonnabend', 'samedi'],
];
const indexIn = (names: readonly string[][], word: string) =>
  names.findIndex((list) => list.includes(word.toLowerCase()));
/** Longest first, or "mar" would end the search in "march". */
const anyOf = (names: readonly string[][]) =>
  names
    .flat()
    .toSorted((a, b) => b.length - a.length)
    .join('|');

const MONTH = `(?<month>${anyOf(MONTHS)})\\.?`;
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th|er|\.)?`;
const YEAR = String.raw`(?:,?\s+(?<year>\d{4})(?!\d))?`;
const DATES = [
  String.raw`(?<![\d-])(?<year>\d{4})-(?<monthNumber>\d{2})-(?<day>\d{2})(?!\d)`,
  String.raw`(?<![\d.])(?<day>\d{1,2})\.\s?(?<monthNumber>\d{1,2})\.(?:\s?(?<year>\d{4}|\d{2}(?!\d)))?(?!\d)`,
  String.raw`(?<![\d/])(?<day>\d{1,2})\/(?<monthNumber>\d{1,2})(?:\/(?<year>\d{4}|\d{2}))?(?![\d/])`,
  // A range ends in the month: "12 to 14 December".
  String.raw`(?<!\d)(?<first>\d{1,2})\.?\s*(?:-|–|to|and|bis|und|au|et|al|y)\s*${DAY}\s+${MONTH}(?!\p{L})${YEAR}`,
  String.raw`(?<!\d)${DAY}\s+(?:of\s+|de\s+)?${MONTH}(?!\p{L})${YEAR}`,
  String.raw`(?<!\p{L})${MONTH}\s+(?:the\s+)?${DAY}(?![\d:]|\s?[ap]m)${YEAR}`,
].map((source) => new RegExp(source, 'giu'));
const WEEKDAY = new RegExp(String.raw`(?<!\p{L})(?:${anyOf(WEEKDAYS)})(?!\p{L})`, 'giu');

const TIMES = [
  /(?<![\d.,:])(?<hour>\d{1,2})(?:[:h]|\s?h\s?)(?<minute>\d{2})(?![\d:])(?:\s?(?<half>[ap])\.?m\b)?/giu,
  /(?<![\d.,:])(?<hour>\d{1,2})\.(?<minute>\d{2})(?=\s?(?:uhr|[ap]\.?m\b))(?:\s?(?<half>[ap])\.?m\b)?/giu,
  /(?<![\d.,:])(?<hour>\d{1,2})\s?(?:(?<half>[ap])\.?m\b|uhr\b|o['’]clock|heures?\b|h\b)/giu,
];

const NUMBER = String.raw`\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d{1,4})?(?!\d)|\d+(?:[.,]\d+)*`;
const SYMBOLS: Readonly<Record<string, string>> = {
  '€': 'EUR',
  euro: 'EUR',
  euros: 'EUR',
  eur: 'EUR',
  $: 'USD',
  dollar: 'USD',
  dollars: 'USD',
  usd: 'USD',
  '£': 'GBP',
  pound: 'GBP',
  pounds: 'GBP',
  gbp: 'GBP',
  chf: 'CHF',
  franken: 'CHF',
  '¥': 'JPY',
  yen: 'JPY',
  jpy: 'JPY',
};
const CURRENCY = String.raw`€|\$|£|¥|(?:euros?|eur|dollars?|usd|pounds?|gbp|chf|franken|yen|jpy)(?!\p{L})`;
const AMOUNTS = [
  new RegExp(`(?<currency>€|\\$|£|¥|(?<!\\p{L})(?:EUR|USD|GBP|CHF|JPY))\\s?(?<number>${NUMBER})`, 'giu'),
  new RegExp(`(?<number>${NUMBER})[\\s-]?(?<currency>${CURRENCY})`, 'giu'),
];

/** Every fact once: what is part of an address, a link, a date or a time is not a number as well. */
export function factsIn(text: string): Facts {
  const rest = new Remaining(text);
  const links = [...rest.take(LINK)].map(({ found }) => link(found));
  const addresses = [...rest.take(ADDRESS)].map(({ found }) => ({
    text: found,
    value: found.replace(TRAILING, '').toLowerCase(),
  }));
  links.push(...[...rest.take(BARE_DOMAIN)].map(({ found }) => link(found)));
  const amounts = AMOUNTS.flatMap((pattern) =>
    // Not taken out: its number is checked as well.
    [...rest.text.matchAll(pattern)].map((match) => ({
      text: match[0],
      value: {
        readings: readingsOf(match.groups!['number']!),
        currency: SYMBOLS[match.groups!['currency']!.toLowerCase()] ?? '',
      },
    })),
  );
  const dates = DATES.flatMap((pattern) => [
    ...rest.take(pattern, (groups) => datesOf(groups).length > 0),
  ]).flatMap(({ found, groups }) => datesOf(groups).map((value) => ({ text: found, value })));
  const weekdays = [...rest.text.matchAll(WEEKDAY)].map(([found]) => ({
    text: found,
    value: indexIn(WEEKDAYS, found),
  }));
  const times = TIMES.flatMap((pattern) => [
    ...rest.take(pattern, (groups) => timesOf(groups).length > 0),
  ]).map(({ found, groups }) => ({ text: found, value: timesOf(groups) }));
  return { addresses, links, dates, times, amounts, weekdays, numbers: numbersIn(rest.text) };
}

/** Each number in every reading, wherever it stands; "1.2k" is 1200 as well. */
export function numbersIn(text: string): Fact<number[]>[] {
  return [
    ...text.matchAll(new RegExp(String.raw`(?<number>${NUMBER})(?<thousands>\s?k(?![\p{L}\d]))?`, 'giu')),
  ].map(({ groups }) => ({
    text: groups!['number']!,
    value: readingsOf(groups!['number']!).flatMap((value) =>
      groups!['thousands'] === undefined ? [value] : [value, Math.round(value * 1000)],
    ),
  }));
}

/** "1.240,50", "1,240.50" and "1 240,50" are one number; "2,500" is 2500 in one notation and 2.5 in another. */
export function readingsOf(written: string): number[] {
  const plain = written.replace(/['’\u00a0\u202f ]/g, '');
  const separators = plain.match(/[.,]/g) ?? [];
  if (separators.length === 0) return [Number(plain)];
  const grouped = /^\d{1,3}(?:[.,]\d{3})+$/.test(plain) && new Set(separators).size === 1;
  const readings = grouped ? [Number(plain.replace(/[.,]/g, ''))] : [];
  if (new Set(separators).size === separators.length) {
    const at = Math.max(plain.lastIndexOf('.'), plain.lastIndexOf(','));
    readings.push(Number(`${plain.slice(0, at).replace(/[.,]/g, '')}.${plain.slice(at + 1)}`));
  } else if (!grouped) {
    const last = separators.at(-1)!;
    const at = plain.lastIndexOf(last);
    readings.push(Number(`${plain.slice(0, at).replace(/[.,]/g, '')}.${plain.slice(at + 1)}`));
  }
  return readings;
}

function link(found: string): Fact<string> {
  const value = found
    .replace(TRAILING, '')
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/$/, '');
  return { text: found, value };
}

type Groups = Readonly<Record<string, string | undefined>>;

function datesOf({ day, first, month, monthNumber, year }: Groups): DayOfYear[] {
  const numberOfMonth = month === undefined ? Number(monthNumber) : indexIn(MONTHS, month) + 1;
  const full = year === undefined ? undefined : Number(year.length === 2 ? `20${year}` : year);
  return [day, first]
    .filter((each) => each !== undefined)
    .map((each) => ({ day: Number(each), month: numberOfMonth, year: full }))
    .filter((date) => date.day >= 1 && date.day <= 31 && date.month >= 1 && date.month <= 12);
}

function timesOf({ hour, minute = '0', half }: Groups): number[] {
  const [hours, minutes] = [Number(hour), Number(minute)];
  if (hours > 23 || minutes > 59 || (half !== undefined && hours > 12)) return [];
  const at = (whole: number) => whole * 60 + minutes;
  if (half !== undefined) return [at((hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0))];
  return hours >= 1 && hours < 12 ? [at(hours), at(hours + 12)] : [at(hours)];
}

/** A text from which what was recognised is taken out. */
class Remaining {
  constructor(public text: string) {}

  take(
    pattern: RegExp,
    accepts: (groups: Groups) => boolean = () => true,
  ): { found: string; groups: Groups }[] {
    const taken: { found: string; groups: Groups }[] = [];
    this.text = this.text.replace(pattern, (...args: unknown[]) => {
      const found = args[0] as string;
      const last = args.at(-1);
      const groups = (typeof last === 'object' ? last : {}) as Groups;
      if (!accepts(groups)) return found;
      taken.push({ found, groups });
      // A mark keeps the words on both sides apart, and is in no number.
      return ' ¦ ';
    });
    return taken;
  }
}
