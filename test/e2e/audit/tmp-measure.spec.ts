import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { GENESIS_HASH, receiptBody, receiptHash } from '../../../src/platform/receipts/receipt.js';
import { ChainVerifier } from '../../../src/platform/receipts/verify-chain.js';
import { ReceiptLog } from '../../../src/features/audit/receipt-log.repository.js';
import { startTestApp } from '../../support/test-app.js';
import { Client } from '../../support/client.js';

it('measures', async () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const rows = [];
  let prevHash = GENESIS_HASH;
  for (let i = 1; i <= 100_000; i++) {
    const body = receiptBody({
      receiptId: `rcp_${i}`,
      workspaceId: 'wks_1',
      at: i,
      actor: { type: 'member', id: 'mem_1', name: 'Ada Lovelace', via: 'api' },
      action: 'directive.created',
      entity: { type: 'directive', id: `dir_${i}` },
      directiveId: `dir_${i}`,
      teamId: null,
      capo: 'capo_ops',
      outcome: 'success',
      summary: 'Ada Lovelace handed a directive to the capo of operations.',
      details: { text: 'x'.repeat(200), priority: 'medium' },
      guardianEpoch: 1,
      requestId: 'req_01m7xhvs7p4gvff19jvywt1a1g',
    });
    const hash = receiptHash(prevHash, body);
    rows.push({
      workspaceId: 'wks_1',
      seq: i,
      receiptId: `rcp_${i}`,
      at: i,
      actorType: 'member',
      actorId: 'mem_1',
      action: 'directive.created',
      entityType: 'directive',
      entityId: `dir_${i}`,
      directiveId: `dir_${i}`,
      teamId: null,
      capo: 'capo_ops',
      body,
      prevHash,
      hash,
    });
    prevHash = hash;
  }
  console.log('body bytes', rows[0]!.body.length);
  for (let round = 0; round < 3; round++) {
    const v = new ChainVerifier([
      { keyId: 'k', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() },
    ]);
    const t = performance.now();
    for (const r of rows) v.receipt(r);
    v.finish(rows.at(-1)!);
    console.log('pure per 100,000:', Math.round(performance.now() - t), 'ms', v.faults.length);
  }
  const test = await startTestApp();
  const { workspaceId } = await test.createWorkspace();
  const owner = await test.createMember(workspaceId, 'owner');
  let t = performance.now();
  await test.rows(`do $$ declare h text := repeat('0',64); n text; b text; i int; a timestamptz; begin
    for i in 1..300000 loop
      a := to_timestamp(1700000000 + i);
      b := '{"action":"' || case when i % 1000 = 0 then 'approval.approved' else 'directive.created' end || '","actor":{"id":"mem_' || (i % 50) || '","name":"Ada Lovelace","type":"member","via":"api"},"at":' || (1700000000 + i)::bigint * 1000 || ',"capo":"' || case when i % 30000 = 7 then 'ceo' else 'capo_ops' end || '","details":{"text":"' || repeat('x', 200) || '"},"directiveId":"dir_' || i || '","entity":{"id":"dir_' || i || '","type":"directive"},"guardianEpoch":1,"outcome":"success","receiptId":"rcp_' || i || '","requestId":"req_01m7xhvs7p4gvff19jvywt1a1g","summary":"Ada Lovelace handed a directive to the capo of operations.","teamId":null,"workspaceId":"${workspaceId}"}';
      n := encode(sha256(convert_to(h || b, 'UTF8')), 'hex');
      insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id, directive_id, team_id, capo, body, prev_hash, hash)
      values ('${workspaceId}', i, 'rcp_' || i, a, 'member', 'mem_' || (i % 50), case when i % 1000 = 0 then 'approval.approved' else 'directive.created' end, 'directive', 'dir_' || i, 'dir_' || i, null, case when i % 30000 = 7 then 'ceo' else 'capo_ops' end, b, h, n);
      h := n;
    end loop;
    update receipt_heads set seq = 300000, hash = h where workspace_id = '${workspaceId}'; end $$`);
  await test.rows('analyze receipts');
  console.log('filled in', Math.round(performance.now() - t), 'ms');
  const log = test.app.get(ReceiptLog);
  const scope = { workspaceId, teamIds: 'all' as const };
  const viewer = { workspaceId, teamIds: [] as string[] };
  const from = 1_700_000_000_000 + 150_000_000;
  const cases: [string, () => Promise<unknown[]>][] = [
    ['newest 50', () => log.listBefore(scope, {}, undefined, 50)],
    ['newest 50 of a viewer', () => log.listBefore(viewer, {}, undefined, 50)],
    ['before 500000', () => log.listBefore(scope, {}, 150_000, 50)],
    ['entity', () => log.listBefore(scope, { entity: 'dir_777' }, undefined, 50)],
    ['action, frequent', () => log.listBefore(scope, { action: 'directive.created' }, undefined, 50)],
    ['action, rare', () => log.listBefore(scope, { action: 'approval.approved' }, undefined, 50)],
    ['action that is not there', () => log.listBefore(scope, { action: 'no.such' }, undefined, 50)],
    ['action prefix, rare', () => log.listBefore(scope, { action: 'approval.*' }, undefined, 50)],
    ['action prefix, none', () => log.listBefore(scope, { action: 'nothing.*' }, undefined, 50)],
    ['actor', () => log.listBefore(scope, { actor: 'mem_7' }, undefined, 50)],
    ['actor, none', () => log.listBefore(scope, { actor: 'mem_none' }, undefined, 50)],
    ['capo, rare', () => log.listBefore(scope, { capo: 'ceo' }, undefined, 50)],
    ['from-to in the middle', () => log.listBefore(scope, { from, to: from + 60_000 }, undefined, 50)],
    ['team, none', () => log.listBefore(scope, { teamId: 'team_x' }, undefined, 50)],
  ];
  const measure = async (label: string) => {
    for (const [name, read] of cases) {
      const times = [];
      for (let i = 0; i < 15; i++) {
        t = performance.now();
        await read();
        times.push(performance.now() - t);
      }
      times.sort((a, b) => a - b);
      console.log(label, name.padEnd(28), 'p50', times[7]!.toFixed(1), 'max', times.at(-1)!.toFixed(1));
    }
  };
  await measure('as is ');
  await test.rows('create index on receipts (workspace_id, actor_id, seq)');
  await test.rows('create index on receipts (workspace_id, capo, seq) where capo is not null');
  await test.rows('create index on receipts (workspace_id, team_id, seq) where team_id is not null');
  await test.rows('create index on receipts (workspace_id, action text_pattern_ops, seq)');
  await test.rows('create index on receipts (workspace_id, at)');
  await test.rows('analyze receipts');
  await measure('indexed');
  const client = new Client(test.url, owner.token);
  const times = [];
  for (let i = 0; i < 28; i++) {
    t = performance.now();
    await client.get('/audit-feed?limit=50');
    times.push(performance.now() - t);
  }
  times.sort((a, b) => a - b);
  console.log('HTTP page of 50 p50', times[14]!.toFixed(1));
  t = performance.now();
  let worst = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const n = performance.now();
    worst = Math.max(worst, n - last - 5);
    last = n;
  }, 5);
  const { body } = await client.get('/audit-feed/verify');
  clearInterval(timer);
  console.log(
    'verify 1,000,000 over HTTP',
    Math.round(performance.now() - t),
    'ms',
    JSON.stringify(body).slice(0, 200),
    'longest turn',
    worst.toFixed(0),
  );
  t = performance.now();
  const r = await fetch(`${test.url}/api/pro/audit-feed?format=csv`, {
    headers: { 'x-service-token': owner.token },
  });
  const csv = await r.text();
  console.log('csv 10,000 rows', Math.round(performance.now() - t), 'ms', csv.length);
  expect(body.ok).toBe(true);
  await test.close();
}, 900_000);
