import { createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/platform/kernel/canonical-json.js';
import { GENESIS_HASH } from '../../../src/platform/receipts/receipt.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Ledger } from './ledger.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

describe('GET /audit-feed/head 200', () => {
  it('answers the last receipt and a checkpoint that the published key verifies', async () => {
    const { ledger, viewer, head } = await Ledger.ten(test);
    const { body } = await viewer.get('/audit-feed/head');
    const last = await ledger.one<{ at: Date }>(
      'select at from receipts where workspace_id = $1 and seq = 10',
    );
    expect(body).toEqual({ ...head, at: last.at.getTime(), checkpoint: expect.any(Object) });

    // With nothing but what these two routes answer.
    const { keys } = (await viewer.get('/audit-feed/keys')).body;
    const { keyId, signature, ...signed } = body.checkpoint;
    expect(signed).toEqual({ workspaceId: ledger.workspaceId, ...head, signedAt: expect.any(Number) });
    const key = keys.find((one: { keyId: string }) => one.keyId === keyId);
    const text = Buffer.from(canonicalJson(signed));
    expect(verify(null, text, createPublicKey(key.publicKey), Buffer.from(signature, 'base64url'))).toBe(
      true,
    );
  });

  it('answers an empty chain', async () => {
    const { owner } = await test.createWorkspace();
    const { body } = await owner.get('/audit-feed/head');
    expect(body).toEqual({ seq: 0, hash: GENESIS_HASH, at: null, checkpoint: null });
  });

  it('answers the same to someone who may not see the last receipt', async () => {
    const ledger = await Ledger.open(test);
    const teamId = await test.createTeam(ledger.workspaceId, 'Team');
    await ledger.append({ teamId });
    const viewer = await test.createMember(ledger.workspaceId, 'viewer');
    const { body } = await viewer.get('/audit-feed/head');
    expect(body).toMatchObject({ ...(await ledger.head()), at: expect.any(Number) });
  });
});

describe('GET /audit-feed/head 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get('/audit-feed/head')).status).toBe(401);
  });
});

describe('GET /audit-feed/keys 200', () => {
  it('answers public keys and nothing else of them', async () => {
    await Ledger.ten(test);
    const { body } = await test.owner.get('/audit-feed/keys');
    expect(body).toEqual({
      keys: [
        {
          keyId: expect.stringMatching(/^[0-9a-f]{16}$/),
          algorithm: 'Ed25519',
          publicKey: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----/),
          createdAt: expect.any(Number),
          signedBy: null,
          signature: null,
        },
      ],
    });
  });
});

describe('GET /audit-feed/keys 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get('/audit-feed/keys')).status).toBe(401);
  });
});
