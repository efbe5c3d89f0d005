import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeleteExpired } from '../../../src/features/tenancy/deletion.service.js';
import { growthRows } from '../../../bench/growth-rows.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { leaveChecked } from '../connector-health/connector-rows.js';

let test: TestApp;
let workspaceId: string;
beforeAll(async () => {
  test = await startTestApp();
  ({ workspaceId } = await test.createWorkspace());
  for (const { text } of growthRows({ workspaceId, from: 1, to: 100 })) await test.rows(text);
});
afterAll(() => test.close());

const count = async (table: string) =>
  (
    await test.rows<{ n: number }>(`select count(*)::int as n from ${table} where workspace_id = $1`, [
      workspaceId,
    ])
  )[0]!.n;
const deleteExpired = () => test.app.get(DeleteExpired).execute();

describe('what is kept no longer', () => {
  it('is not deleted before its time', async () => {
    expect(Object.values(await deleteExpired()).every((deleted) => deleted === 0)).toBe(true);
    expect(await count('webhook_deliveries')).toBe(100);
  });

  it('is deleted: deliveries with their events, but none that waits', async () => {
    await test.rows(
      `update webhook_deliveries set created_at = now() - interval '31 days' where delivery_id like '%1'`,
    );
    await test.rows(`update webhook_events set created_at = now() - interval '31 days'`);
    await test.rows(`update webhook_deliveries set status = 'failed' where delivery_id like '%11'`);
    const deleted = await deleteExpired();
    expect(deleted).toMatchObject({ deliveries: 9, events: 9 });
    expect([await count('webhook_deliveries'), await count('webhook_events')]).toEqual([91, 91]);
  });

  it('keeps them for as long as the workspace says', async () => {
    await test.rows(`update workspaces set retention = '{"deliveries": 90}' where workspace_id = $1`, [
      workspaceId,
    ]);
    await test.rows(
      `update webhook_deliveries set created_at = now() - interval '89 days' where status = 'delivered'`,
    );
    expect(await deleteExpired()).toMatchObject({ deliveries: 0 });
    await test.rows(
      `update webhook_deliveries set created_at = now() - interval '91 days' where status = 'delivered'`,
    );
    expect(await deleteExpired()).toMatchObject({ deliveries: 90 });
  });

  it('is deleted: acknowledged signals, but none that wait for somebody', async () => {
    await test.rows(
      `update signals set created_at = created_at - interval '2 years', acknowledged_at = acknowledged_at - interval '366 days'`,
    );
    const waiting = await test.rows('select 1 from signals where acknowledged_at is null');
    await deleteExpired();
    expect(await count('signals')).toBe(waiting.length);
  });

  it('is deleted: withdrawn documents, uses of orders, decisions and updates of partners, and never a receipt', async () => {
    await test.rows(
      `update documents set withdrawn_at = now() - interval '366 days' where document_id like '%2'`,
    );
    await test.rows(
      `update standing_order_uses set at = now() - interval '63 days' where work_packet_id like '%3'`,
    );
    await test.rows(
      `update partner_events set received_at = now() - interval '401 days' where partner_event_id like '%4'`,
    );
    await test.rows(
      `update policy_decisions set at = now() - interval '401 days' where work_packet_id like '%5'`,
    );
    const receipts = await count('receipts');
    expect(await deleteExpired()).toMatchObject({
      'withdrawn documents': 10,
      'standing order uses': 10,
      'policy decisions': 10,
      'partner updates': 10,
    });
    expect(await count('receipts')).toBe(receipts);
  });
});

describe('checks of connectors', () => {
  it('go after a week, after 100 days where they changed the status, and the last change never', async () => {
    const connectorId = await leaveChecked(test, workspaceId);
    const add = (n: number, days: number, changed: boolean) =>
      test.rows(
        `insert into connector_checks values ($1, $2, $3, now() - $4 * interval '1 day', 'green', 'x', null, $5)`,
        [workspaceId, connectorId, n, days, changed],
      );
    await test.rows(
      `update connector_checks set checked_at = now() - interval '300 days' where connector_id = $1`,
      [connectorId],
    );
    await add(2, 250, true);
    await add(3, 99, false);
    await add(4, 8, false);
    await add(5, 6, false);
    await test.rows(`update connectors set checks = 5, last_change = 2 where connector_id = $1`, [
      connectorId,
    ]);
    expect(await deleteExpired()).toMatchObject({ 'checks of connectors': 2, 'changes of connectors': 1 });
    const left = await test.rows<{ n: string }>(
      'select n::int as n from connector_checks where connector_id = $1 order by n',
      [connectorId],
    );
    expect(left.map(({ n }) => n)).toEqual([2, 5]);
    await test.rows('delete from connectors where connector_id = $1', [connectorId]);
  });
});

describe('eval runs', () => {
  it('go after 400 days, but for those that an activation went by', async () => {
    const definition = { name: 'x', targetEntityType: 'skill', targetEntityId: 'x', definition: {} };
    for (let n = 0; n < 3; n++) expect((await test.owner.post('/evals/run', definition)).status).toBe(201);
    const runs = await test.rows<{ eval_run_id: string }>('select eval_run_id from eval_runs order by 1');
    expect(runs).toHaveLength(3);
    const [old, activation, young] = runs.map((run) => run.eval_run_id);
    await test.rows(`update eval_runs set created_at = now() - interval '401 days' where eval_run_id <> $1`, [
      young,
    ]);
    await test.rows(`update eval_runs set occasion = 'activation' where eval_run_id = $1`, [activation]);
    expect(await deleteExpired()).toMatchObject({ 'eval runs': 1 });
    const left = await test.rows<{ eval_run_id: string }>('select eval_run_id from eval_runs order by 1');
    expect(left.map((run) => run.eval_run_id)).toEqual([activation, young]);
    expect(old).toBeDefined();
  });
});

describe('conversations', () => {
  it('go 365 days after their last message, with all their messages', async () => {
    const ask = async () => {
      const answer = await test.owner.post('/consigliere/chat', { message: 'What waits for me?' });
      expect(answer.status).toBe(200);
      return answer.body.conversationId as string;
    };
    const [old, young] = [await ask(), await ask()];
    await test.rows(
      `update conversations set last_message_at = now() - interval '366 days' where conversation_id = $1`,
      [old],
    );
    await test.rows(
      `update conversations set last_message_at = now() - interval '364 days' where conversation_id = $1`,
      [young],
    );
    expect(await deleteExpired()).toMatchObject({ 'chat messages': 2, conversations: 1 });
    expect(await test.rows('select conversation_id from conversations')).toEqual([
      { conversation_id: young },
    ]);
    expect(await test.rows('select distinct conversation_id from chat_messages')).toEqual([
      { conversation_id: young },
    ]);
  });
});

describe('a stored value that is no number of days', () => {
  it.each(['"soon"', 'null', '1e300', '-5', '1.5', '[]', '{"days": 3}'])(
    'is taken for the default, and keeps no other workspace from its own: %s',
    async (value) => {
      const other = await test.createWorkspace();
      for (const { table, text } of growthRows({ workspaceId: other.workspaceId, from: 901, to: 903 })) {
        if (table === 'signals') await test.rows(text);
      }
      await test.rows(
        `update signals set acknowledged_at = now() - interval '366 days' where workspace_id = $1`,
        [other.workspaceId],
      );
      await test.rows('update workspaces set retention = $2 where workspace_id = $1', [
        workspaceId,
        `{"deliveries": ${value}, "signals": ${value}, "withdrawnDocuments": ${value}, "partnerUpdates": ${value}}`,
      ]);
      const before = await count('webhook_deliveries');
      expect(await deleteExpired()).toMatchObject({ 'acknowledged signals': 3 });
      expect(await count('webhook_deliveries')).toBe(before);
      await test.rows(`update workspaces set retention = '{}' where workspace_id = $1`, [workspaceId]);
    },
  );
});

describe('the tallies', () => {
  it('say the same before and after they are added up, and what counting says', async () => {
    const tally = () =>
      test.rows(
        `select kind, key, bucket, team_id, sum(n)::int as n, sum(amount)::float8 as amount from (
           select kind, key, bucket, team_id, n, amount from tallies where team_id <> '*' or kind = 'partner' union all
           select kind, key, bucket, case kind when 'partner' then '*' else coalesce(team_id, '') end, n, amount
           from tally_changes) t
         where bucket = '-infinity' or bucket > now() - interval '99 days'
         group by 1, 2, 3, 4 having sum(n) <> 0 or sum(amount) <> 0 order by 1, 2, 3, 4`,
      );
    const ofAll = () =>
      test.rows(
        `select kind, key, bucket, n, amount from tallies where team_id = '*' and (n <> 0 or amount <> 0) order by 1, 2, 3`,
      );
    await test.rows(`update directives set status = 'cancelled', capo = 'capo_ops', started_at = created_at,
      cost = '{"amount": 0.25, "currency": "USD"}' where directive_id like '%5'`);
    await test.rows(`update approvals set status = 'expired', decided_at = now() where status = 'pending'`);
    const before = await tally();
    await test.rows('select app.fold_tallies(1000000)');
    expect(await test.rows('select 1 from tally_changes')).toEqual([]);
    expect(await tally()).toEqual(before);
    // What was deleted stays counted until then.
    const kept = (rows: Record<string, unknown>[]) =>
      rows.filter(({ kind, key }) => key !== 'scored' && kind !== 'partner' && kind !== 'evals');
    const shown = await ofAll();
    expect(shown.length).toBeGreaterThan(0);
    await test.rows('select app.recount_tallies()');
    expect(kept(await tally())).toEqual(kept(before));
    expect(kept(await ofAll())).toEqual(kept(shown));
    expect((await test.rows(`select sum(n)::int as n from tallies where kind = 'partner'`))[0]).toEqual({
      n: await count('partner_events'),
    });
  });
});
