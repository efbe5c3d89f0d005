import type { IDToken, UserInfoResponse } from 'openid-client';
import { isMailAddress, nameInAddress, mailDomain } from '../../platform/kernel/mail-address.js';
import { cutText } from '../../platform/kernel/text.js';
import { nameFault, visibleName } from '../../platform/kernel/visible-name.js';
import { passesForOurs } from '../workspaces/index.js';
import { OidcNotVerified, OidcRefused } from './oidc.errors.js';

/** Somebody whom the provider vouches for, as far as we take its word. */
export interface OidcIdentity {
  issuer: string;
  /** Who it is at the issuer, for good; the address may change. */
  subject: string;
  /** Verified, of a domain of the organisation, in the spelling in which accounts have it. */
  email: string;
  displayName: string;
  /** Whether the provider asked for a second factor. */
  secondFactor: boolean;
}

type Claims = Readonly<Record<string, unknown>>;

/** OpenID Connect Core, section 2: at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
const MAX_DISPLAY_NAME = 80;

/** How `xms_edov` says yes. */
const SAYS_YES: unknown[] = [true, 1, 'true', '1'];

/**
 * What proves somebody (RFC 8176): what they know, have or are. One alone is a single factor, a one-time password too: it may
 * have been mailed, and nothing else been asked for.
 */
const FACTORS = [
  ['pwd', 'pin', 'kba'],
  ['otp', 'sms', 'tel', 'hwk', 'swk', 'sc'],
  ['face', 'fpt', 'iris', 'retina', 'vbm'],
];
const ACR_OF_TWO = ['mfa', 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'];

/**
 * Who signs in, by the verified ID token; what it says nothing about, the provider's user info says.
 *
 * @throws OidcRefused for an address that the provider has not verified, or that is not of these domains
 */
export function identityOf(
  token: IDToken,
  userInfo: UserInfoResponse | undefined,
  domains: readonly string[],
): OidcIdentity {
  if (!SUBJECT.test(token.sub)) throw new OidcNotVerified();
  const email = addressOf(token, userInfo, domains);
  const names = [token['name'], userInfo?.name, nameInAddress(email)];
  return {
    issuer: token.iss,
    subject: token.sub,
    email,
    displayName:
      names.map(shownName).find((name) => name !== undefined) ?? cutText(email, MAX_DISPLAY_NAME, ''),
    secondFactor: showsSecondFactor(token),
  };
}

/** Whether the ID token says too little about the address, so that the user info is to be asked. */
export function saysTooLittle(token: IDToken): boolean {
  return typeof token['email'] !== 'string' || verifiedOf(token, token.iss) === undefined;
}

/** An address and the word that it is verified come from one place: of two places, each may mean another address. */
function vouching(token: IDToken, userInfo: UserInfoResponse | undefined): Claims {
  return saysTooLittle(token) && userInfo ? userInfo : token;
}

function addressOf(
  token: IDToken,
  userInfo: UserInfoResponse | undefined,
  domains: readonly string[],
): string {
  const claims = vouching(token, userInfo);
  const given = claims['email'];
  if (typeof given !== 'string' || given === '') {
    throw new OidcRefused({
      message:
        "Your organisation's sign-in service did not send your mail address. Ask its administrator to share it with Consigliere (the scope email).",
    });
  }
  if (verifiedOf(claims, token.iss) !== true) {
    throw new OidcRefused({
      message:
        "Your organisation's sign-in service does not say that your mail address is verified, so it cannot be used here.",
    });
  }
  const at = given.lastIndexOf('@');
  const domain = mailDomain(given.slice(at + 1));
  const address = `${given.slice(0, at)}@${domain}`;
  // Looked at before it is put in lower case: that would make an ASCII k of the Kelvin sign.
  if (at < 1 || domain === undefined || !isMailAddress(address)) {
    throw new OidcRefused({
      message:
        "The mail address that your organisation's sign-in service gave is not one that can be used here.",
    });
  }
  if (!domains.includes(domain)) {
    throw new OidcRefused({ message: `Mail addresses at ${domain} are not accepted here.` });
  }
  if (isPersonalGoogleAccount(token, domains)) {
    throw new OidcRefused({
      message: 'This is a personal Google account. Sign in with the one that your organisation gave you.',
    });
  }
  return address.toLowerCase();
}

/**
 * Microsoft Entra ID has no `email_verified`; it says in `xms_edov` that the owner of the address's domain is verified,
 * as a boolean or a number, in text or not.
 */
function verifiedOf(claims: Claims, issuer: string): boolean | undefined {
  const said = claims['email_verified'];
  if (typeof said === 'boolean') return said;
  if (URL.parse(issuer)?.hostname !== 'login.microsoftonline.com') return undefined;
  const edov = claims['xms_edov'];
  return edov === undefined ? undefined : SAYS_YES.includes(edov);
}

/**
 * Anybody can have a Google account with an address of the organisation, and keeps it when they leave; only those that the
 * organisation manages have `hd`.
 */
function isPersonalGoogleAccount(token: IDToken, domains: readonly string[]): boolean {
  if (token.iss !== 'https://accounts.google.com') return false;
  const hosted = token['hd'];
  return typeof hosted !== 'string' || !domains.includes(mailDomain(hosted) ?? '');
}

function shownName(given: unknown): string | undefined {
  if (typeof given !== 'string' || nameFault(given, MAX_DISPLAY_NAME) !== undefined) return undefined;
  return passesForOurs(given, 'member') ? undefined : visibleName(given);
}

function showsSecondFactor({ amr, acr }: IDToken): boolean {
  const methods: unknown[] = Array.isArray(amr) ? amr : [];
  if (methods.includes('mfa')) return true;
  const shown = FACTORS.filter((factor) => factor.some((method) => methods.includes(method)));
  if (shown.length > 1) return true;
  return typeof acr === 'string' && ACR_OF_TWO.includes(acr);
}
