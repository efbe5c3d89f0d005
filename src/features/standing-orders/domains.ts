import { domainToASCII } from 'node:url';

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
