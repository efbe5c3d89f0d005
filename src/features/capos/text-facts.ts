import { domainToASCII } from 'node:url';
import { CURRENCIES } from '../../platform/kernel/currency.js';
import { cutText } from '../../platform/kernel/text.js';
import { USUAL_CODES } from './money.js';

/**
 * The facts in a text that must not be made up: mail addresses, links, bank accounts, wallets and amounts in digits, each in one notation, so that the same
 * fact is the same string however it was written.
 */

/** An amount as it was written; `1.200` may be 1200 or 1.2. */
export interface Amount {
  written: string;
  values: readonly number[];
  /** A code of ISO 4217, `$` for any dollar, `%`; null for a bare number. */
  unit: string | null;
}

/** Nobody reads further than this; what a runner may hand over is bounded anyway. */
const MAX_TEXT = 200_000;

/** Zeros of the digits that people count with elsewhere; NFKC knows the wide and the mathematical ones. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50];

/** Points of a host that mail programs, or readers, take for one; between other letters `。` ends a sentence. */
const OTHER_DOTS = /(?<=[a-z\d-])(?:。|\[\.\]|\(\.\))(?=[a-z\d])/gi;

/** The text in compatible letters and ASCII digits, without what is invisible. */
export function plainText(text: string): string {
  return cutText(text, MAX_TEXT, '')
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(OTHER_DOTS, '.')
    .replace(/\p{Nd}/gu, (digit) => {
      const zero = ZEROS.find(
        (start) => digit.codePointAt(0)! >= start && digit.codePointAt(0)! < start + 10,
      );
      return zero === undefined ? digit : String(digit.codePointAt(0)! - zero);
    });
}

/** Percent-encoding undone, where it is any; `jane%40acme.example` is an address as well. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes;
    }
  });
}

const ADDRESS = /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;

export function addressesIn(text: string): string[] {
  const found = decoded(plainText(text)).match(ADDRESS) ?? [];
  return [...new Set(found.map(addressKey))];
}

/** One notation of an address: case and the writing of an international domain make no other one. */
export function addressKey(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1).toLowerCase();
  const local = decoded(plainText(address.slice(0, at))).replace(/^['.]+/, '');
  return `${local.toLowerCase()}@${domainToASCII(plainText(domain)) || domain}`;
}

/** Domains without a scheme are links to a reader's mail program; more endings than these would find file names. */
const ENDINGS =
  'com|net|org|io|co|app|dev|info|biz|eu|de|at|ch|fr|it|es|nl|be|uk|us|ca|au|ru|cn|jp|in|br|pl|se|no|dk|fi|xyz|top|site|online|shop|store|link|click|live|me|ai|example';
const BEHIND_HOST = String.raw`[/?#][^\s<>"“”«»]{0,2000}`;
/** With a path behind it, any ending is a link to a mail program, and so is an address of the internet by number. */
const HOST_AND_PATH = [
  String.raw`(?<![\p{L}\p{N}@._%+-])[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,4}\.\p{L}{2,63}(?::\d{1,5})?${BEHIND_HOST}`,
  String.raw`(?<![\p{L}\p{N}@._%+-])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5}(?:${BEHIND_HOST})?|${BEHIND_HOST})`,
].join('|');
const LINK = new RegExp(
  String.raw`\b(?:https?|ftp):\/\/[^\s<>"“”«»]{1,2000}|\bwww\.[^\s<>"“”«»]{1,2000}|(?<![\p{L}\p{N}@._%+-])[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,4}\.(?:${ENDINGS})(?![\p{L}\p{N}@-])(?::\d{1,5})?(?:${BEHIND_HOST})?|${HOST_AND_PATH}`,
  'giu',
);
/** A link of Markdown whose target has no host of its own, such as a phone number to call. */
const TARGET = /\]\(\s*<?((?:tel|sms|data|javascript|file):[^\s)>]{1,2000})/gi;

export function linksIn(text: string): string[] {
  const plain = plainText(text);
  const links = (plain.match(LINK) ?? []).map(linkKey);
  const targets = [...plain.matchAll(TARGET)].map(([, target]) => target!.toLowerCase());
  return [...new Set([...links, ...targets])];
}

/** One notation of a link: its scheme, the case of its host, percent-encoding and punctuation behind it make no other one. */
function linkKey(written: string): string {
  const bare = withoutPunctuation(written);
  const url = URL.parse(/^[a-z]+:\/\//i.test(bare) ? bare : `https://${bare}`);
  if (url === null) return bare.toLowerCase();
  const user = url.username === '' ? '' : `${url.username}@`;
  const port = url.port === '' ? '' : `:${url.port}`;
  const path = decoded(url.pathname).replace(/\/+$/, '');
  const host = url.hostname.replace(/^www\./, '').replace(/\.$/, '');
  return `${user}${host}${port}${path}${decoded(url.search)}${decoded(url.hash)}`;
}

/** What stands behind a link in a sentence, or closes the bracket around it, is no part of it. */
function withoutPunctuation(link: string): string {
  let end = link.length;
  // How many more brackets are closed than opened before `end`.
  let unopened = link.split(')').length - link.split('(').length;
  for (; end > 0; end--) {
    const last = link[end - 1]!;
    const isOpened = last === ')' && unopened <= 0;
    if (!/[.,;:!?'"*_)\]}]/.test(last) || isOpened) break;
    if (last === ')') unopened--;
  }
  return link.slice(0, end);
}

/** Where an IBAN may begin: the letters of a country and two digits. */
const IBAN = /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?=[ .-]?[A-Z\d])(?:[ .-]?[A-Z\d]){11,30}/giu;

/** Bank accounts, written as IBANs that are right by their check digits; no other money can arrive at. */
export function accountsIn(text: string): string[] {
  return [...new Set((plainText(text).match(IBAN) ?? []).flatMap((written) => ibanIn(written) ?? []))];
}

/** How long an IBAN of each country is (SWIFT, IBAN Registry). */
const IBAN_LENGTHS = new Map(
  (
    'NO15 BE16 DK18 FI18 FK18 FO18 GL18 NL18 SD18 MK19 SI19 AT20 BA20 EE20 KZ20 LT20 LU20 MN20 XK20 CH21 HR21 LI21 LV21 ' +
    'BG22 BH22 CR22 DE22 GB22 GE22 IE22 ME22 RS22 VA22 AE23 GI23 IL23 IQ23 OM23 SO23 TL23 AD24 CZ24 ES24 MD24 PK24 RO24 ' +
    'SA24 SE24 SK24 TN24 VG24 LY25 PT25 ST25 IS26 TR26 BI27 DJ27 FR27 GR27 IT27 MC27 MR27 SM27 AL28 AZ28 BY28 CY28 DO28 ' +
    'GT28 HN28 HU28 LB28 NI28 PL28 SV28 BR29 EG29 PS29 QA29 UA29 JO30 KW30 MU30 YE30 MT31 SC31 LC32 RU33'
  )
    .split(' ')
    .map((each) => [each.replace(/\d/g, ''), Number(each.replace(/\D/g, ''))]),
);

/** Words may stand behind it that look like more of it. */
function ibanIn(written: string): string | undefined {
  const characters = written.toUpperCase().replace(/[^A-Z\d]/g, '');
  const [country = ''] = /^[A-Z]{2}/.exec(characters) ?? [];
  const iban = cutText(characters, IBAN_LENGTHS.get(country) ?? 0, '');
  return isIban(iban) ? iban : undefined;
}

/** ISO 13616: the rest of the division by 97 is 1, with the letters as numbers and the first four characters at the end. */
function isIban(iban: string): boolean {
  let rest = 0;
  for (const character of iban.replace(/^(.{4})(.*)$/, '$2$1')) {
    const number = Number.parseInt(character, 36);
    rest = (rest * (number > 9 ? 100 : 10) + number) % 97;
  }
  return rest === 1;
}

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const WALLETS = [
  // Bitcoin and Litecoin, in lower or upper case.
  String.raw`(?:bc|tb|ltc)1[02-9ac-hj-np-z]{11,87}`,
  String.raw`(?:BC|TB|LTC)1[02-9AC-HJ-NP-Z]{11,87}`,
  // Cardano.
  String.raw`addr1[02-9ac-hj-np-z]{50,110}`,
  // Ethereum and those that have its addresses.
  String.raw`0[xX][\da-fA-F]{40}`,
  // Bitcoin, Litecoin, Dogecoin, Tron, Ripple as they were written first, with letters of both cases and a digit; Monero.
  String.raw`(?=${BASE58}*\d)(?=${BASE58}*[A-Z])(?=${BASE58}*[a-z])(?:[13LMDTr]${BASE58}{25,34}|[48]${BASE58}{94})`,
];
const WALLET = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${WALLETS.join('|')})(?![\p{L}\p{N}])`, 'gu');

/** Addresses at which cryptocurrencies arrive; one in a link is part of the link. */
export function walletsIn(text: string): string[] {
  const found = plainText(text).replace(LINK, ' ').match(WALLET) ?? [];
  return [...new Set(found.map(walletKey))];
}

/** Case tells apart only those of base 58. */
function walletKey(written: string): string {
  return /^(?:0x|bc1|tb1|ltc1|addr1)/i.test(written) ? written.toLowerCase() : written;
}

const SYMBOLS: Readonly<Record<string, string>> = {
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₽': 'RUB',
  '₺': 'TRY',
  '₩': 'KRW',
  zł: 'PLN',
  euro: 'EUR',
  euros: 'EUR',
  dollar: '$',
  dollars: '$',
  pound: 'GBP',
  pounds: 'GBP',
  percent: '%',
  prozent: '%',
  'pour cent': '%',
};
const DOLLARS = new Set(['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'MXN', '$']);
const TIMES: Readonly<Record<string, number>> = {
  k: 1e3,
  tsd: 1e3,
  thousand: 1e3,
  tausend: 1e3,
  mille: 1e3,
  m: 1e6,
  mn: 1e6,
  mio: 1e6,
  million: 1e6,
  millions: 1e6,
  millionen: 1e6,
};

/**
 * Each letter in both cases, and no `(?i:...)`: once a process holds a megabyte of compiled expressions, V8 stops optimising
 * new ones, and then mistakes the case of what stands in such a group.
 */
const inAnyCase = (words: readonly string[]) =>
  words
    .toSorted(longestFirst)
    .join('|')
    .replace(/\p{L}/gu, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);

const NUMBER = String.raw`\d{1,3}(?:[ '’]\d{3}(?!\d))+(?:[.,]\d{1,4})?|\d+(?:[.,]\d+)*`;
const FACTOR = String.raw`(?:\s?(?<times>${inAnyCase(Object.keys(TIMES))})\b\.?)?`;
/** In any case, apart from codes: "top 3", "all 5" and "try 3" name no currency. */
const UNIT = [inAnyCase([...Object.keys(SYMBOLS), ...USUAL_CODES]), ...CURRENCIES, String.raw`\$`, '%'].join(
  '|',
);
const AMOUNT = new RegExp(
  String.raw`(?:(?<![\p{L}])(?<before>${UNIT})\s?)?(?<![\p{L}\d][.,]?)(?<number>${NUMBER})${FACTOR}(?:[.,]?-{1,2})?(?:\s?(?<after>${UNIT})(?![\p{L}\p{N}]))?`,
  'gu',
);

/** Every number of the text, with its currency where one stands beside it. */
export function numbersIn(text: string): Amount[] {
  return [...plainText(text).matchAll(AMOUNT)].map(({ 0: written, groups = {} }) => {
    const times = TIMES[groups['times']?.toLowerCase() ?? ''] ?? 1;
    return {
      written: written.trim(),
      values: valuesOf(groups['number']!).map((value) => Number((value * times).toFixed(4))),
      unit: unitOf(groups['before'] ?? groups['after']),
    };
  });
}

/** The sums of money and the percentages of the text; a number in a link is part of the link. */
export function amountsIn(text: string): Amount[] {
  return numbersIn(plainText(text).replace(LINK, ' ')).filter(({ unit }) => unit !== null);
}

/** Whether one may be the other, written in another way. */
export function isSameAmount(one: Amount, other: Amount): boolean {
  return (
    one.values.some((value) => other.values.includes(value)) &&
    (one.unit === null || other.unit === null || isSameUnit(one.unit, other.unit))
  );
}

function isSameUnit(one: string, other: string): boolean {
  const isAnyDollar = (one === '$' || other === '$') && DOLLARS.has(one) && DOLLARS.has(other);
  return one === other || isAnyDollar;
}

function unitOf(written: string | undefined): string | null {
  if (written === undefined) return null;
  return SYMBOLS[written.toLowerCase()] ?? written.toUpperCase();
}

/** What a number may mean: whether a comma or a point parts thousands or decimals depends on who wrote it. */
function valuesOf(number: string): number[] {
  const digits = number.replace(/[ '’]/g, '');
  const marks = digits.match(/[.,]/g) ?? [];
  if (marks.length === 0) return [Number(digits)];
  const grouped = Number(digits.replace(/[.,]/g, ''));
  const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  const decimal = Number(`${digits.slice(0, last).replace(/[.,]/g, '')}.${digits.slice(last + 1)}`);
  if (new Set(marks).size === 2) return [decimal];
  if (marks.length > 1) return [grouped];
  return digits.length - last - 1 === 3 ? [grouped, decimal] : [decimal];
}

function longestFirst(one: string, other: string): number {
  return other.length - one.length;
}
