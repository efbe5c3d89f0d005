import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainOf, contents, kinds, signed, verify } from '../../../test/e2e/audit/chains.js';
import { GENESIS_HASH } from './receipt.js';
import { ChainVerifier, pointFault } from './verify-chain.js';

describe('a checkpoint', () => {
  const chain = chainOf(fc.sample(contents, 3));
  const checkpoint = signed(chain[1]!);

  it.each([
    ['of another key', signed(chain[1]!, generateKeyPairSync('ed25519').privateKey)],
    ['of an unknown key', { ...checkpoint, keyId: 'k2' }],
    ['that says another hash', { ...checkpoint, hash: chain[2]!.hash }],
    ['of another time', { ...checkpoint, signedAt: 1 }],
    ['of another workspace', { ...checkpoint, workspaceId: 'wks_2' }],
    ['with half a signature', { ...checkpoint, signature: checkpoint.signature.slice(0, 40) }],
    ['without one', { ...checkpoint, signature: '' }],
  ])('%s is named bad_signature and proves nothing else', (_case, forged) => {
    expect(kinds(verify(chain, { checkpoints: [forged] }))).toEqual(['bad_signature 2']);
  });

  it.each([
    ['no key at all', 'nonsense'],
    [
      'of another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .publicKey.export({ type: 'spki', format: 'pem' })
        .toString(),
    ],
  ])('under a stored key that is %s is named bad_signature', (_case, pem) => {
    const verifier = new ChainVerifier([{ keyId: 'k1', publicKey: pem }]);
    verifier.checkpoint(checkpoint);
    expect(kinds(verifier)).toEqual(['bad_signature 2']);
  });
});

describe('the head', () => {
  const chain = chainOf(fc.sample(contents, 3));

  it('with another hash is named head_mismatch', () => {
    expect(kinds(verify(chain, { head: { seq: 3, hash: GENESIS_HASH } }))).toEqual(['head_mismatch 3']);
  });

  it('that lags behind the last receipt is named head_mismatch', () => {
    expect(kinds(verify(chain, { head: chain[1]! }))).toEqual(['head_mismatch 2']);
  });
});

describe('a point that was noted elsewhere', () => {
  it.each([
    ['is where it was', 'a', undefined],
    ['has another hash', 'b', 'checkpoint_mismatch'],
    ['is gone from the middle', undefined, 'missing'],
  ])('%s', (_case, stored, kind) => {
    expect(pointFault({ seq: 5, hash: 'a' }, stored, 9)?.kind).toBe(kind);
  });

  it('is gone with the tail', () => {
    expect(pointFault({ seq: 5, hash: 'a' }, undefined, 3)).toEqual({
      kind: 'tail_cut',
      seq: 4,
      message: 'Receipts 4 to 5 are missing from the end of the chain: the head kept elsewhere is at 5.',
    });
  });
});
