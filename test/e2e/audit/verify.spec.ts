import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ReceiptChains } from '../../../src/features/audit/receipt-chains.repository.js';
import { Checkpoints } from '../../../src/platform/receipts/checkpoints.js';
import { GENESIS_HASH } from '../../../src/platform/receipts/receipt.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Ledger } from './ledger.js';

const VERIFY = '/audit-feed/verify';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Without a copy from elsewhere, the answer says what it cannot know. */
const UNCOMPARED = {
  head: 'not_given',
  key: 'not_given',
  notice: expect.stringMatching(
    /No head kept elsewhere was compared.*database and the signing key.*cannot be told/,
  ),
};

const kinds = ({ faults }: { faults: { kind: string; seq: number }[] }) =>
  faults.map(({ kind, seq }) => `${kind} ${seq}`);

/** Hashes the chain of the workspace anew from this receipt on, and sets the head to its end. */
const rehash = (from: number) => `
  with recursive anew as (
    select seq, body, prev_hash, encode(sha256(convert_to(prev_hash || body, 'UTF8')), 'hex') as hash
    from receipts where workspace_id = $1 and seq = ${from}
    union all
    select r.seq, r.body, a.hash, encode(sha256(convert_to(a.hash || r.body, 'UTF8')), 'hex')
    from anew a join receipts r on r.workspace_id = $1 and r.seq = a.seq + 1
  ), chained as (
    update receipts r set prev_hash = a.prev_hash, hash = a.hash from anew a
    where r.workspace_id = $1 and r.seq = a.seq
  )
  update receipt_heads h set seq = a.seq, hash = a.hash
  from (select seq, hash from anew order by seq desc limit 1) a where h.workspace_id = $1`;

const SET_HEAD_BACK = `update receipt_heads h set seq = r.seq, hash = r.hash from
  (select seq, hash from receipts where workspace_id = $1 order by seq desc limit 1) r where h.workspace_id = $1`;

describe('GET /audit-feed/verify 200', () => {
  it('answers numbers, the head and the newest checkpoint of an intact chain', async () => {
    const { ledger, viewer, head } = await Ledger.ten(test);
    const { status, body } = await viewer.get(VERIFY);
    expect(status).toBe(200);
    const latest = { workspaceId: ledger.workspaceId, ...head, signedAt: expect.any(Number) };
    expect(body).toEqual({
      ok: true,
      checked: 10,
      head,
      faults: [],
      checkpoints: {
        checked: 1,
        latest: { ...latest, keyId: expect.any(String), signature: expect.any(String) },
      },
      halts: [],
      haltCount: 0,
      keptElsewhere: UNCOMPARED,
    });
  });

  it('finds nothing wrong with a chain that is still empty', async () => {
    const { owner } = await test.createWorkspace();
    const { body } = await owner.get(VERIFY);
    const head = { seq: 0, hash: GENESIS_HASH };
    expect(body).toEqual({
      ok: true,
      checked: 0,
      head,
      faults: [],
      checkpoints: { checked: 0, latest: null },
      halts: [],
      haltCount: 0,
      keptElsewhere: UNCOMPARED,
    });
  });

  it('verifies the whole chain for someone who may see little of it, and tells nothing of the rest', async () => {
    const ledger = await Ledger.open(test);
    const teamId = await test.createTeam(ledger.workspaceId, 'Secret');
    const stranger = await test.createMember(ledger.workspaceId, 'viewer');
    await ledger.fill(5, { teamId, summary: 'A secret.' });
    await ledger.tamper(`update receipts set action = 'other.done' where workspace_id = $1 and seq = 3`);
    expect((await stranger.get('/audit-feed')).body.items).toEqual([]);
    const { body, text } = await stranger.get(VERIFY);
    expect(body).toMatchObject({ ok: false, checked: 5 });
    expect(body.faults).toEqual([
      {
        kind: 'content_mismatch',
        seq: 3,
        message: 'The content of receipt 3 has another action than its row.',
      },
    ]);
    expect(text).not.toMatch(/secret|done|team_|thing/i);
  });

  it.each([
    [
      'one changed byte of the bytes',
      [`update receipts set body = overlay(body placing 'X' from 12) where workspace_id = $1 and seq = 4`],
      ['hash_mismatch 4', 'content_mismatch 4'],
    ],
    [
      'one changed byte of a column',
      [`update receipts set capo = 'cEo' where workspace_id = $1 and seq = 4`],
      ['content_mismatch 4'],
    ],
    [
      'a time that was moved',
      [`update receipts set at = at - interval '1 ms' where workspace_id = $1 and seq = 4`],
      ['content_mismatch 4'],
    ],
    [
      'one changed byte of a hash',
      [
        `update receipts set hash = translate(hash, '0123456789', '1234567890') where workspace_id = $1 and seq = 4`,
      ],
      ['hash_mismatch 4', 'prev_hash_mismatch 5'],
    ],
    ['a deleted receipt', ['delete from receipts where workspace_id = $1 and seq = 4'], ['missing 4']],
    ['a cut tail', ['delete from receipts where workspace_id = $1 and seq > 7'], ['tail_cut 8']],
    [
      'a cut tail with the head set back, by the checkpoint',
      ['delete from receipts where workspace_id = $1 and seq > 7', SET_HEAD_BACK],
      ['tail_cut 8'],
    ],
    [
      'a chain that was rewritten, by the checkpoint',
      [
        `update receipts set body = replace(body, 'Receipt 3', 'Receipt 0') where workspace_id = $1 and seq = 4`,
        rehash(4),
      ],
      ['checkpoint_mismatch 10'],
    ],
    [
      'a chain that was rewritten with the checkpoint made to fit',
      [
        `update receipts set body = replace(body, 'Receipt 3', 'Receipt 0') where workspace_id = $1 and seq = 4`,
        rehash(4),
        `update receipt_checkpoints c set hash = h.hash from receipt_heads h
         where c.workspace_id = $1 and h.workspace_id = $1`,
      ],
      ['bad_signature 10'],
    ],
    [
      'a head with another hash',
      [`update receipt_heads set hash = repeat('a', 64) where workspace_id = $1`],
      ['head_mismatch 10'],
    ],
    ['a head that lags', ['update receipt_heads set seq = 9 where workspace_id = $1'], ['head_mismatch 9']],
    ['a chain that is gone', ['delete from receipts where workspace_id = $1'], ['tail_cut 1']],
  ])('names %s', async (_case, statements, expected) => {
    const { ledger, viewer } = await Ledger.ten(test);
    await ledger.tamper(...statements);
    const { body } = await viewer.get(VERIFY);
    expect(kinds(body)).toEqual(expected);
    expect(body.ok).toBe(false);
  });

  it.each([
    ['a cut tail', ['delete from receipts where workspace_id = $1 and seq > 7', SET_HEAD_BACK], 'tail_cut 8'],
    [
      'a chain that was rewritten',
      [
        `update receipts set body = replace(body, 'Receipt 1', 'Receipt 0') where workspace_id = $1 and seq = 2`,
        rehash(2),
      ],
      'checkpoint_mismatch 10',
    ],
  ])('names %s with no checkpoint left, by a head held elsewhere', async (_case, statements, expected) => {
    const { ledger, viewer, head } = await Ledger.ten(test);
    await ledger.tamper('delete from receipt_checkpoints where workspace_id = $1', ...statements);
    // The chain by itself is whole again; that is what the held head is for.
    expect((await viewer.get(VERIFY)).body).toMatchObject({ ok: true, faults: [] });
    const { body } = await viewer.get(`${VERIFY}?heldSeq=${head.seq}&heldHash=${head.hash}`);
    expect(body.ok).toBe(false);
    expect(kinds(body)).toEqual([expected]);
    expect(body.keptElsewhere).toMatchObject({
      head: 'differs',
      notice: expect.stringContaining('first fault'),
    });
  });

  it('finds a head kept elsewhere at its number in a chain that went on, and says how far it reaches', async () => {
    const { ledger, viewer, head } = await Ledger.ten(test);
    await ledger.fill(3);
    const { body } = await viewer.get(`${VERIFY}?heldSeq=${head.seq}&heldHash=${head.hash}`);
    expect(body).toMatchObject({ ok: true, checked: 13 });
    const notice = expect.stringContaining('not rewritten up to receipt 10');
    expect(body.keptElsewhere).toEqual({ head: 'matches', key: 'not_given', notice });
  });

  it('keeps the first hundred faults', async () => {
    const ledger = await Ledger.open(test);
    await ledger.fill(150);
    await ledger.tamper(`update receipts set action = 'x' where workspace_id = $1`);
    const { body } = await (await test.createMember(ledger.workspaceId, 'viewer')).get(VERIFY);
    expect(body).toMatchObject({ ok: false, checked: 150 });
    expect(body.faults).toHaveLength(100);
  });

  it('reads many pages, with the chain growing meanwhile and checkpoints in each', async () => {
    const ledger = await Ledger.open(test);
    const viewer = await test.createMember(ledger.workspaceId, 'viewer');
    for (let stretch = 0; stretch < 4; stretch++) {
      await ledger.fill(1000);
      await test.app.get(Checkpoints).signDue();
    }
    const verifying = viewer.get(VERIFY);
    for (let meanwhile = 0; meanwhile < 50; meanwhile++) await ledger.append({ summary: 'Meanwhile.' });
    const { body } = await verifying;
    expect(body.checked).toBeGreaterThanOrEqual(4000);
    expect(body).toMatchObject({ ok: true, faults: [], checkpoints: { checked: 4 } });
    expect(body.checked).toBe(body.head.seq);
  });

  it('works once for all who ask at the same time, and anew for who asks after a change', async () => {
    const { ledger, viewer } = await Ledger.ten(test);
    const ends = vi.spyOn(test.app.get(ReceiptChains), 'ends');
    const first = viewer.get(VERIFY);
    await vi.waitUntil(() => ends.mock.calls.length > 0);
    await ledger.tamper(`update receipts set capo = 'cEo' where workspace_id = $1 and seq = 4`);
    const rest = await Promise.all(Array.from({ length: 10 }, () => viewer.get(VERIFY)));
    await first;
    for (const { body } of rest) expect(kinds(body)).toEqual(['content_mismatch 4']);
    expect(ends.mock.calls.length).toBeLessThan(6);
    ends.mockRestore();
  });
});

describe('GET /audit-feed/verify 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get(VERIFY)).status).toBe(401);
  });
});

describe('GET /audit-feed/verify 422', () => {
  it.each([
    ['heldSeq=1', 'heldHash'],
    [`heldHash=${GENESIS_HASH}`, 'heldSeq'],
    [`heldSeq=0&heldHash=${GENESIS_HASH}`, 'heldSeq'],
    [`heldSeq=1&heldHash=${'A'.repeat(64)}`, 'heldHash'],
    ['heldKeyId=key', 'heldKeyId'],
    [`heldKeyId=${'A'.repeat(16)}`, 'heldKeyId'],
  ])('refuses %s', async (query, path) => {
    const { status, body } = await test.owner.get(`${VERIFY}?${query}`);
    expect(status).toBe(422);
    expect(new Set(body.error.details.map((fault: { path: string }) => fault.path))).toEqual(new Set([path]));
  });
});
