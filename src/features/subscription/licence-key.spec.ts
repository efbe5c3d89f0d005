import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { newId } from '../../platform/kernel/ids.js';
import {
  type Licence,
  issuerKeys,
  keyIdOf,
  MAX_LICENCE_KEY,
  publicKeyOf,
  readLicence,
  signLicence,
} from './licence.js';

const { privateKey } = generateKeyPairSync('ed25519');
const publicKey = publicKeyOf(privateKey);
const issuers = issuerKeys([publicKey]);

const LICENCE: Licence = {
  licenceId: newId('lic'),
  number: 7,
  workspaceId: newId('wks'),
  tier: 'pro',
  entitlements: ['skill-packs', 'sso'],
  issuedAt: 1_795_000_000_000,
  expiresAt: 1_827_619_200_000,
};
const KEY = signLicence(LICENCE, privateKey);

/** A key whose signature is right, whatever its payload says. */
function signed(payload: object | string, version = 'CLIC1'): string {
  const json = typeof payload === 'string' ? payload : canonicalJson(payload);
  const head = `${version}.${Buffer.from(json).toString('base64url')}`;
  return `${head}.${sign(null, Buffer.from(head), privateKey).toString('base64url')}`;
}

const PAYLOAD = { ...LICENCE, alg: 'Ed25519', key: keyIdOf(publicKey) };

describe('a licence key', () => {
  it('says what was signed', () => {
    expect(readLicence(KEY, issuers)).toEqual({ licence: LICENCE });
    expect(KEY).toBe(signed(PAYLOAD));
  });

  it('is read with any of several issuers', () => {
    const next = generateKeyPairSync('ed25519').privateKey;
    const both = issuerKeys([publicKeyOf(next), publicKey]);
    expect(readLicence(KEY, both)).toEqual({ licence: LICENCE });
    expect(readLicence(signLicence(LICENCE, next), both)).toEqual({ licence: LICENCE });
  });

  it('is refused with any one bit changed', () => {
    const bytes = Buffer.from(KEY);
    const faults = new Set<string>();
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const copy = Buffer.from(bytes);
      copy[bit >> 3]! ^= 1 << (bit & 7);
      const read = readLicence(copy.toString('latin1'), issuers);
      expect(read, `bit ${bit}`).not.toHaveProperty('licence');
      faults.add((read as { fault: string }).fault);
    }
    expect(faults).toContain('bad_signature');
    expect(faults).toContain('unsupported_version');
    expect(faults).toContain('malformed');
  });

  it('is refused when cut anywhere, or with anything added', () => {
    for (let length = 0; length < KEY.length; length++) {
      expect(readLicence(KEY.slice(0, length), issuers)).not.toHaveProperty('licence');
    }
    for (const more of ['A', '=', '.', '\n', ' ', '.AAAA', '\0']) {
      expect(readLicence(KEY + more, issuers), JSON.stringify(more)).toEqual({ fault: 'malformed' });
      expect(readLicence(more + KEY, issuers), JSON.stringify(more)).toEqual({ fault: 'malformed' });
    }
  });

  it('is refused when its signature is that of another', () => {
    const other = signed({ ...PAYLOAD, tier: 'enterprise' });
    const mixed = [...other.split('.').slice(0, 2), KEY.split('.')[2]].join('.');
    expect(readLicence(mixed, issuers)).toEqual({ fault: 'bad_signature' });
  });

  it('is refused when another key has signed under the name of a known one', () => {
    const stranger = generateKeyPairSync('ed25519').privateKey;
    const [version, body] = KEY.split('.');
    const signature = sign(null, Buffer.from(`${version}.${body}`), stranger).toString('base64url');
    expect(readLicence(`${version}.${body}.${signature}`, issuers)).toEqual({ fault: 'bad_signature' });
    expect(readLicence(signLicence(LICENCE, stranger), issuers)).toEqual({ fault: 'unknown_key' });
  });

  it.each([
    ['none', 'unsupported_algorithm'],
    ['HS256', 'unsupported_algorithm'],
    ['ed25519', 'unsupported_algorithm'],
    ['EdDSA', 'unsupported_algorithm'],
    [7, 'malformed'],
    [undefined, 'malformed'],
  ])('of the algorithm %s is %s', (alg, fault) => {
    expect(readLicence(signed(JSON.parse(JSON.stringify({ ...PAYLOAD, alg }))), issuers)).toEqual({ fault });
  });

  it.each([
    ['CLIC2', 'unsupported_version'],
    ['CLIC999', 'unsupported_version'],
    ['CLIC', 'malformed'],
    ['clic1', 'malformed'],
    ['', 'malformed'],
  ])('of the version %s is %s', (version, fault) => {
    expect(readLicence(signed(PAYLOAD, version), issuers)).toEqual({ fault });
  });

  it.each<[string, object | string]>([
    ['a list', '[]'],
    ['null', 'null'],
    ['no JSON', 'tier=enterprise'],
    ['JSON in another order', JSON.stringify(Object.assign({ tier: 'pro' }, PAYLOAD))],
    ['JSON with a key twice', canonicalJson(PAYLOAD).replace('{', '{"alg":"Ed25519",')],
    ['JSON with blanks', JSON.stringify(PAYLOAD, null, 1)],
    ['an unknown property', { ...PAYLOAD, seats: 5 }],
    ['a property called __proto__', canonicalJson(PAYLOAD).replace('{', '{"__proto__":{},')],
    ['an unknown tier', { ...PAYLOAD, tier: 'gold' }],
    ['no workspace', { ...PAYLOAD, workspaceId: undefined }],
    ['a workspace that is none', { ...PAYLOAD, workspaceId: '*' }],
    ['a number of zero', { ...PAYLOAD, number: 0 }],
    ['a number with decimals', { ...PAYLOAD, number: 1.5 }],
    ['a number beyond the safe ones', { ...PAYLOAD, number: 2 ** 53 }],
    ['a time as text', { ...PAYLOAD, expiresAt: '2027-11-30' }],
    ['a time beyond all calendars', { ...PAYLOAD, expiresAt: 9e15 }],
    ['an end before its issue', { ...PAYLOAD, expiresAt: PAYLOAD.issuedAt }],
    ['entitlements twice', { ...PAYLOAD, entitlements: ['sso', 'sso'] }],
    ['entitlements in no order', { ...PAYLOAD, entitlements: ['b', 'a'] }],
    [
      'too many entitlements',
      { ...PAYLOAD, entitlements: Array.from({ length: 51 }, (_, n) => `e${n + 10}`) },
    ],
    ['an entitlement with a line break', { ...PAYLOAD, entitlements: ['a\nb'] }],
    ['no name of a key', { ...PAYLOAD, key: 1 }],
  ])('with %s is malformed, though it is signed', (_what, payload) => {
    const text = typeof payload === 'string' ? payload : JSON.parse(JSON.stringify(payload));
    expect(readLicence(signed(text), issuers)).toEqual({ fault: 'malformed' });
  });

  it('is bounded, and any text is refused without an error', () => {
    const entitlements = Array.from({ length: 50 }, (_, n) => `e${n + 10}`.padEnd(64, 'x'));
    const long = signLicence({ ...LICENCE, entitlements }, privateKey);
    expect(long.length).toBeLessThan(MAX_LICENCE_KEY);
    expect(readLicence(long, issuers)).toHaveProperty('licence');
    expect(readLicence('A'.repeat(MAX_LICENCE_KEY + 1), issuers)).toEqual({ fault: 'malformed' });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `CLIC1.${text}`),
        ),
        (text) => {
          expect(readLicence(text, issuers)).not.toHaveProperty('licence');
        },
      ),
    );
  });
});
