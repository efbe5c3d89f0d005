import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/platform/config/config.js';
import { Db } from '../../../src/platform/database/db.js';
import { Clock } from '../../../src/platform/kernel/clock.js';
import { keyIdOf } from '../../../src/platform/receipts/key-chain.js';
import { purposeOf, SigningKeys } from '../../../src/platform/receipts/signing-keys.js';
import { type ChainPoint, checkpointText } from '../../../src/platform/receipts/verify-chain.js';
import { SecretBox } from '../../../src/platform/secrets/secret-box.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { Ledger } from './ledger.js';

const VERIFY = '/audit-feed/verify';

let test: TestApp;
let ledger: Ledger;
let viewer: TestMember;
let head: ChainPoint;
/** The service's own key. */
let ownKeyId: string;
beforeEach(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
  ledger = await Ledger.open(test);
  viewer = await test.createMember(ledger.workspaceId, 'viewer');
  await ledger.fill(10);
  head = await ledger.head();
  const signedAt = Date.now();
  const { workspaceId } = ledger;
  const { keyId, signature } = await test.app
    .get(SigningKeys)
    .sign(checkpointText({ workspaceId, ...head, signedAt }));
  await ledger.tamper(checkpointRow(head, signedAt, keyId, signature));
  ownKeyId = keyId;
});
afterEach(() => test.close());

const checkpointRow = ({ seq, hash }: ChainPoint, at: number, keyId: string, signature: string) =>
  `insert into receipt_checkpoints values ($1, ${seq}, '${hash}', to_timestamp(${at}::float8 / 1000), '${keyId}', '${signature}')`;

/** What someone without SECRETS_KEY can make: a key pair, sealed under a key of their own. */
function forgedKey(): { keyId: string; pem: string; sealed: string; privateKey: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const keyId = keyIdOf(pem);
  const box = new SecretBox(loadConfig({ SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }));
  const sealed = box.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), purposeOf(keyId));
  return { keyId, pem, sealed, privateKey };
}

/** Rewrites the chain from receipt 4 on and signs its new head with `key`, as if nothing had been. */
async function rewriteAndSign(key: { keyId: string; privateKey: KeyObject }): Promise<void> {
  await ledger.tamper(
    'delete from receipt_checkpoints where workspace_id = $1',
    `update receipts set body = replace(body, 'Receipt 3', 'Receipt 0') where workspace_id = $1 and seq = 4`,
    `with recursive anew as (
       select seq, body, prev_hash, encode(sha256(convert_to(prev_hash || body, 'UTF8')), 'hex') as hash
       from receipts where workspace_id = $1 and seq = 4
       union all
       select r.seq, r.body, a.hash, encode(sha256(convert_to(a.hash || r.body, 'UTF8')), 'hex')
       from anew a join receipts r on r.workspace_id = $1 and r.seq = a.seq + 1
     ), chained as (
       update receipts r set prev_hash = a.prev_hash, hash = a.hash from anew a
       where r.workspace_id = $1 and r.seq = a.seq returning r.seq, r.hash
     )
     update receipt_heads h set hash = c.hash from chained c where h.workspace_id = $1 and c.seq = h.seq`,
  );
  const anew = await ledger.head();
  expect(anew.hash).not.toBe(head.hash);
  const signedAt = Date.now();
  const text = checkpointText({ workspaceId: ledger.workspaceId, ...anew, signedAt });
  const signature = sign(null, Buffer.from(text), key.privateKey).toString('base64url');
  await ledger.tamper(checkpointRow(anew, signedAt, key.keyId, signature));
}

describe('someone with the rights of the database’s owner, but without SECRETS_KEY', () => {
  it('finds an intact chain before', async () => {
    expect((await viewer.get(VERIFY)).body).toMatchObject({
      ok: true,
      faults: [],
      checkpoints: { checked: 1 },
    });
  });

  it('adds a key and signs a rewritten chain with it: the key is named, and its signature does not count', async () => {
    const forged = forgedKey();
    await ledger.tamper(
      `insert into signing_keys (key_id, public_key, sealed_private_key)
       select '${forged.keyId}', '${forged.pem}', '${forged.sealed}' where $1 <> ''`,
    );
    await rewriteAndSign(forged);
    const { body } = await viewer.get(VERIFY);
    expect(body.ok).toBe(false);
    expect(body.faults).toEqual([
      {
        kind: 'untrusted_key',
        seq: 0,
        keyId: forged.keyId,
        message: `The signing key ${forged.keyId} is refused: its private key cannot be decrypted with SECRETS_KEY.`,
      },
      { kind: 'bad_signature', seq: 10, message: 'The checkpoint at 10 is not signed by a trusted key.' },
    ]);
    // Nor is it shown as a key to verify with, and the service goes on with its own.
    const { keys } = (await viewer.get('/audit-feed/keys')).body;
    expect(keys.map(({ keyId }: { keyId: string }) => keyId)).toEqual([ownKeyId]);
    expect((await test.app.get(SigningKeys).sign('text')).keyId).toBe(ownKeyId);
  });

  it.each([
    ['its place', (forged: ReturnType<typeof forgedKey>) => `key_id = '${forged.keyId}', `],
    ['its public half', () => ''],
  ])('puts a key in %s and signs with that: the key is named and never used', async (_what, renamed) => {
    const forged = forgedKey();
    const keyId = renamed(forged) ? forged.keyId : ownKeyId;
    await rewriteAndSign({ ...forged, keyId });
    const sealed = renamed(forged) ? `sealed_private_key = '${forged.sealed}', ` : '';
    await ledger.tamper(
      `update signing_keys set ${renamed(forged)}${sealed}public_key = '${forged.pem}' where $1 <> ''`,
    );
    const { body } = await viewer.get(VERIFY);
    expect(body.ok).toBe(false);
    expect(body.faults[0]).toMatchObject({ kind: 'untrusted_key', keyId });
    expect(body.faults.at(-1)).toMatchObject({ kind: 'bad_signature', seq: 10 });
    const fresh = new SigningKeys(test.app.get(Db), test.app.get(SecretBox), test.app.get(Clock));
    await expect(fresh.sign('text')).rejects.toThrow(new RegExp(`No signing key can be trusted.*${keyId}`));
  });

  it('removes every key and checkpoint: the process that used the key misses it, and signs nothing with another', async () => {
    await rewriteAndSign({ ...forgedKey(), keyId: ownKeyId });
    await ledger.tamper(
      'delete from receipt_checkpoints where workspace_id = $1',
      `delete from signing_keys where $1 <> ''`,
    );
    const { body } = await viewer.get(VERIFY);
    expect(body.ok).toBe(false);
    expect(body.faults).toEqual([
      expect.objectContaining({
        kind: 'untrusted_key',
        keyId: ownKeyId,
        message: expect.stringContaining('is missing'),
      }),
    ]);
  });
});

describe('what was kept elsewhere names what the database alone cannot show', () => {
  it('a chain that was rewritten and signed by someone who has SECRETS_KEY too', async () => {
    const own = await test.rows<{ key: string }>('select sealed_private_key as key from signing_keys');
    const opened = test.app.get(SecretBox).open(own[0]!.key, purposeOf(ownKeyId));
    await rewriteAndSign({ keyId: ownKeyId, privateKey: createPrivateKey(opened) });
    // The whole truth of it: nothing in the database shows this, and the answer says so.
    const alone = (await viewer.get(VERIFY)).body;
    expect(alone).toMatchObject({ ok: true, faults: [] });
    expect(alone.keptElsewhere.notice).toMatch(
      /rewritten by someone who has both the database and the signing key/,
    );
    const { body } = await viewer.get(
      `${VERIFY}?heldSeq=${head.seq}&heldHash=${head.hash}&heldKeyId=${ownKeyId}`,
    );
    expect(body.ok).toBe(false);
    expect(body.faults).toEqual([
      {
        kind: 'checkpoint_mismatch',
        seq: 10,
        message: 'The chain was rewritten: the hash of receipt 10 is not the one in the head kept elsewhere.',
      },
    ]);
    expect(body.keptElsewhere).toMatchObject({ head: 'differs', key: 'matches' });
  });

  it('a signing key that is no longer there', async () => {
    const heldKeyId = 'ab'.repeat(8);
    const { body } = await viewer.get(`${VERIFY}?heldKeyId=${heldKeyId}`);
    expect(body.ok).toBe(false);
    expect(body.faults).toEqual([
      {
        kind: 'untrusted_key',
        seq: 0,
        keyId: heldKeyId,
        message: `The signing key ${heldKeyId}, which was kept elsewhere, is not among the trusted keys of this service.`,
      },
    ]);
    expect(body.keptElsewhere).toMatchObject({ head: 'not_given', key: 'differs' });
  });
});

describe('a signing key that is older than a year', () => {
  it('signs the next one, which every process then uses; what the old one signed still counts', async () => {
    await test.rows(`update signing_keys set created_at = now() - interval '366 days'`);
    const processes = Array.from(
      { length: 4 },
      () => new SigningKeys(test.app.get(Db), test.app.get(SecretBox), test.app.get(Clock)),
    );
    const signed = await Promise.all(processes.map((one) => one.sign('text')));
    expect(new Set(signed.map(({ keyId }) => keyId)).size).toBe(1);
    expect(signed[0]!.keyId).not.toBe(ownKeyId);
    const { keys } = (await viewer.get('/audit-feed/keys')).body;
    expect(keys).toEqual([
      expect.objectContaining({ keyId: ownKeyId, signedBy: null }),
      expect.objectContaining({ keyId: signed[0]!.keyId, signedBy: ownKeyId, signature: expect.any(String) }),
    ]);
    expect((await viewer.get(`${VERIFY}?heldKeyId=${ownKeyId}`)).body).toMatchObject({
      ok: true,
      faults: [],
    });
  });
});
