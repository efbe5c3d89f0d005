import { domainToASCII } from 'node:url';

/** What a URL parser would cut off or decode, and what shows as nothing. */
const FOREIGN = /[\s/\\?#@:%[\]\p{C}\p{Default_Ignorable_Code_Point}]/u;

const LABEL = String.raw`[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?`;
const DOMAIN = new RegExp(String.raw`^(?=.{4,253}$)(?:${LABEL}\.)+[a-z][a-z\d-]{0,61}[a-z\d]$`);

/**
 * A mail domain in the one spelling in which domains are compared: NFKC, punycode, lower case. Undefined for what is no
 * domain of two labels or more.
 */
export function mailDomain(text: string): string | undefined {
  const compatible = text.normalize('NFKC');
  if (FOREIGN.test(text) || FOREIGN.test(compatible)) return undefined;
  const domain = domainToASCII(compatible);
  return DOMAIN.test(domain) ? domain : undefined;
}
