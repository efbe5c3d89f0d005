import { domainToASCII } from 'node:url';
import { isEmail, ValidateBy } from 'class-validator';
import { z } from 'zod';

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

/**
 * A bare address, never `Name <address>`: what a person reads is exactly what the mail server is given. What passes here
 * is never refused later, when the mail is composed.
 */
export const mailAddress = z.stringFormat('mail address', isAddress, 'must be a mail address');

const asciiAddress = z.email();

/** Of one with letters beyond ASCII, the same rules hold for its domain in Punycode and for the bytes of what stands before it. */
function isAddress(text: string): boolean {
  const ascii = /\P{ASCII}/u.test(text) ? asciiForm(text) : text;
  return ascii.length <= 254 && asciiAddress.safeParse(ascii).success && isEmail(ascii);
}

/** Empty for letters in a form that another reader would change, such as a wide one, or `。` for the point. */
function asciiForm(text: string): string {
  const [local, domain] = partsOf(text);
  if (domain === undefined || text.normalize('NFKC') !== text || text.includes('。')) return '';
  const letters = /(?!\p{ASCII})[\p{L}\p{N}]\p{M}*|[a-z\d]\p{M}+/giu;
  return `${local.replace(letters, (letter) => 'x'.repeat(Buffer.byteLength(letter)))}@${domain}`;
}

function partsOf(text: string): [string, string | undefined] {
  const at = text.lastIndexOf('@');
  return [text.slice(0, Math.max(0, at)), mailDomain(text.slice(at + 1))];
}

/** Addresses are compared, and stored, without upper case, and with the domain of an international one in Punycode. */
export function foldedMailAddress(text: string): string {
  const folded = text.trim().normalize('NFC').toLowerCase();
  const [local, domain] = partsOf(folded);
  return domain !== undefined && /\P{ASCII}/u.test(folded) ? `${local}@${domain}` : folded;
}

/** What somebody is called, as far as the address tells: `jane.doe@...` is Jane Doe. */
export function nameInAddress(address: string): string {
  const words = address
    .split('@', 1)[0]!
    .split(/[._-]+/)
    .filter(Boolean);
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join(' ');
}

export function isMailAddress(value: unknown): value is string {
  return mailAddress.safeParse(value).success;
}

/**
 * Whether mail to this address can reach anyone. The owner of an installation that nobody has set up is at example.com, where
 * nobody receives mail (RFC 2606).
 */
export function isReachable(email: string): boolean {
  return isMailAddress(email) && !/[@.]example\.(com|net|org)$/i.test(email);
}

export function IsMailAddress(): PropertyDecorator {
  return ValidateBy({
    name: 'isMailAddress',
    validator: {
      validate: isMailAddress,
      defaultMessage: () => '$property must be a mail address such as jane@acme.example',
    },
  });
}
