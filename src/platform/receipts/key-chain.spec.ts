import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { examineKeys, keyIdOf, type KeyRecord, keyText } from './key-chain.js';

interface Pair {
  record: KeyRecord;
  privateKey: KeyObject;
}

/** A key made at `createdAt`, signed by `signer` if there is one. */
function keyAt(createdAt: number, signer?: Pair, signingKey = signer?.privateKey): Pair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const key = { keyId: keyIdOf(pem), publicKey: pem, createdAt, signedBy: signer?.record.keyId ?? null };
  const signature =
    signingKey === undefined ? null : sign(null, Buffer.from(keyText(key)), signingKey).toString('base64url');
  return { record: { ...key, signature }, privateKey };
}

const first = keyAt(1);
const second = keyAt(2, first);
const third = keyAt(3, second);
const others = keyAt(4);

/** Examines `keys`; every private key opens and is the right one, unless `opened` says otherwise. */
function examine(keys: Pair[], opened: Record<string, string | undefined> = {}) {
  const publicKeys = Object.fromEntries(keys.map(({ record }) => [record.keyId, record.publicKey]));
  const all = { ...publicKeys, ...opened };
  const { trusted, faults } = examineKeys(
    keys.map(({ record }) => record),
    (keyId) => all[keyId],
  );
  return { trusted: trusted.map(({ keyId }) => keyId), faults };
}

const refused = ({ record: { keyId } }: Pair, why: string) => ({
  keyId,
  message: `The signing key ${keyId} is refused: ${why}.`,
});

describe('the keys of a service', () => {
  it('are trusted from the first on, each signed by the one before, in whatever order they are stored', () => {
    const expected = [first, second, third].map(({ record }) => record.keyId);
    expect(examine([first, second, third])).toEqual({ trusted: expected, faults: [] });
    expect(examine([third, first, second])).toEqual({ trusted: expected, faults: [] });
  });

  it('are none before the first is made', () => {
    expect(examine([])).toEqual({ trusted: [], faults: [] });
  });
});

describe('a key is refused', () => {
  it('when its private key does not open', () => {
    expect(examine([first, others], { [others.record.keyId]: undefined })).toEqual({
      trusted: [first.record.keyId],
      faults: [refused(others, 'its private key cannot be decrypted with SECRETS_KEY')],
    });
  });

  it('when its public key was replaced', () => {
    const replaced = { ...first, record: { ...first.record, publicKey: others.record.publicKey } };
    expect(examine([replaced], { [first.record.keyId]: first.record.publicKey })).toEqual({
      trusted: [],
      faults: [refused(first, 'its public key does not belong to its private key')],
    });
  });

  it('when its id is that of another key', () => {
    const renamed = { ...first, record: { ...first.record, keyId: 'a'.repeat(16) } };
    expect(examine([renamed])).toEqual({
      trusted: [],
      faults: [refused(renamed, 'its id does not match its public key')],
    });
  });

  it.each([
    ['when it claims to be a second first one', others],
    ['when another key has signed it than it says', keyAt(3, second, others.privateKey)],
    ['when the signature covers another time', { ...third, record: { ...third.record, createdAt: 9 } }],
    ['when its signature is cut', { ...third, record: { ...third.record, signature: 'AAAA' } }],
    ['when it has no signature', { ...third, record: { ...third.record, signature: null } }],
  ])('%s', (_case, key) => {
    expect(examine([first, second, key])).toEqual({
      trusted: [first, second].map(({ record }) => record.keyId),
      faults: [refused(key, 'it is not signed by an earlier trusted key')],
    });
  });

  it('when the key that signed it is gone, and so are all that follow', () => {
    expect(examine([first, third])).toEqual({
      trusted: [first.record.keyId],
      faults: [refused(third, 'it is not signed by an earlier trusted key')],
    });
    expect(examine([second, third]).trusted).toEqual([]);
  });

  it('when it and its signer sign each other', () => {
    const circle = { ...second, record: { ...second.record, signedBy: third.record.keyId } };
    expect(examine([circle, third]).trusted).toEqual([]);
  });
});
