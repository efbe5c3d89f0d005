import { domainToASCII } from 'node:url';
import type { FieldCondition } from './standing-order.js';

/** Separators and quotes of an address list, and the brackets and parentheses around addresses and comments. */
const BETWEEN_ADDRESSES = /[\s,;<>()"]+/u;

/** One address, bare. The characters that `domainToASCII` would cut off or decode are refused in the domain. */
const ADDRESS = /^[^@]+@(?<domain>[^@/\\?#%:[\]]+)$/u;

const WEB_ADDRESS = /^https?:/iu;

/**
 * The domains that mail or a request to this value would reach: of http(s) URLs, and of each address in a mail
 * address list. `undefined` stands for what cannot be read for certain, so that neither `"a@ours.com" <b@theirs.com>`
 * nor `https://ours.com/b@theirs.com`, a URL to one reader and an address to another, passes for ours.com alone.
 */
export function domainsIn(value: unknown): (string | undefined)[] {
  if (typeof value !== 'string') return [undefined];
  const named = value.split(BETWEEN_ADDRESSES).filter((part) => part.includes('@') || WEB_ADDRESS.test(part));
  return named.length === 0 ? [undefined] : named.flatMap((part) => domainsOf(part));
}

function domainsOf(part: string): (string | undefined)[] {
  if (!WEB_ADDRESS.test(part)) return [canonicalDomain(ADDRESS.exec(part)?.groups?.domain ?? '')];
  const host = URL.canParse(part) ? canonicalDomain(new URL(part).hostname) : undefined;
  return part.includes('@') ? [host, undefined] : [host];
}

/** What is in its canonical form already: most names are, and `domainToASCII` took half the time of a decision. */
const CANONICAL = /^(?!.*xn--)(?:[a-z\d-]+\.)*[a-z]{2,}$/u;

/** Lower case, ASCII (`bücher.de` is `xn--bcher-kva.de`), without the final dot. A subdomain is another domain. */
export function canonicalDomain(domain: string): string | undefined {
  if (CANONICAL.test(domain)) return domain;
  return domainToASCII(domain).replace(/\.$/, '') || undefined;
}

/** Undefined: a value that cannot be compared in this way. */
type Comparison = (element: unknown, operand: unknown) => boolean | undefined;

const COMPARISONS: Record<Exclude<keyof FieldCondition, '$exists'>, Comparison> = {
  $eq: whole((element, operand) => element === operand),
  $ne: whole((element, operand) => element !== operand),
  $lt: numbers((element, operand) => element < operand),
  $lte: numbers((element, operand) => element <= operand),
  $gt: numbers((element, operand) => element > operand),
  $gte: numbers((element, operand) => element >= operand),
  $in: whole((element, operand) => Array.isArray(operand) && operand.includes(element)),
  $nin: whole((element, operand) => Array.isArray(operand) && !operand.includes(element)),
  $prefix: texts((element, operand) => element.startsWith(operand)),
  $suffix: texts((element, operand) => element.endsWith(operand)),
  $domainIn: (element, operand) =>
    typeof element === 'string'
      ? Array.isArray(operand) && operand.some((domain) => canonicalDomain(String(domain)) === element)
      : undefined,
};

/**
 * The conditions of `match.fields`, over whatever JSON a model wrote into a work packet.
 *
 * - A path names own properties, separated by dots, with list elements by number (`params.items.0.price`).
 * - A missing value, null and an empty list satisfy no comparison, `$ne` and `$nin` included; only `$exists: false`
 *   holds for them. A list of lists is read as one list.
 * - Nothing is converted: `"500"` is not 500 and not below 600 either. What cannot be compared (a text with a number, an object, an
 *   address that cannot be read) is in `doubt` as well: an agent chooses the form in which it writes a sum.
 * - A list satisfies a comparison when every element does. Where only some do, the answer is `doubt`: false for an
 *   order that allows, so that one stranger among the recipients is enough to ask; true for an order that tightens,
 *   so that adding a harmless recipient does not get a denied one through.
 */
export function fieldsMatch(
  fields: Readonly<Record<string, FieldCondition>>,
  valueOf: (path: string) => unknown,
  doubt: boolean,
): boolean {
  return Object.entries(fields).every(([path, condition]) =>
    conditionMatches(condition, valueOf(path), doubt),
  );
}

function conditionMatches(condition: FieldCondition, value: unknown, doubt: boolean): boolean {
  const elements = [value].flat(Infinity).filter((element) => element !== undefined && element !== null);
  return Object.entries(condition).every(([operator, operand]) => {
    if (operator === '$exists') return elements.length > 0 === operand;
    const compared = operator === '$domainIn' ? elements.flatMap(domainsIn) : elements;
    const satisfied = compared.filter((element) => compares(operator, element, operand) ?? doubt).length;
    return satisfied > 0 && (doubt || satisfied === compared.length);
  });
}

/** An operator that only a later version knows cannot be compared. */
function compares(operator: string, element: unknown, operand: unknown): boolean | undefined {
  if (!Object.hasOwn(COMPARISONS, operator)) return undefined;
  return COMPARISONS[operator as keyof typeof COMPARISONS](element, operand);
}

function numbers(comparison: (element: number, operand: number) => boolean): Comparison {
  return (element, operand) =>
    typeof element === 'number' ? typeof operand === 'number' && comparison(element, operand) : undefined;
}

function texts(comparison: (element: string, operand: string) => boolean): Comparison {
  return (element, operand) =>
    typeof element === 'string' ? typeof operand === 'string' && comparison(element, operand) : undefined;
}

function whole(comparison: Comparison): Comparison {
  return (element, operand) => (typeof element === 'object' ? undefined : comparison(element, operand));
}
