import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, DOCUMENT, expectUnbroken } from './desk.js';

/**
 * What throws what nobody foresaw: triggers of the test's own refuse rows that name the poison, as a constraint would that
 * nobody thought of.
 */
const POISONED = 'File this memo for the board: The poisonous delays end on Friday.';
let test: TestApp;

beforeAll(async () => {
  test = await startTestApp();
  await test.rows(`create function refuse_poison() returns trigger language plpgsql as $$
    begin
      if row_to_json(new)::text like '%poisonous%' then raise exception 'nobody foresaw this'; end if;
      return new;
    end $$`);
});
afterEach(async () => {
  for (const table of ['documents', 'approvals', 'signals'])
    await test.rows(`drop trigger if exists poison on ${table}`);
});
afterAll(() => test.close());

const poison = (table: string, event: string) =>
  test.rows(
    `create trigger poison before ${event} on ${table} for each row execute function refuse_poison()`,
  );

async function ownDesk() {
  const { workspaceId, owner } = await test.createWorkspace();
  return { workspaceId, desk: new Desk(test, owner.token) };
}

interface Item {
  failures: number;
  waits: boolean;
  due_at: Date;
}

const itemOf = async (id: string) =>
  (
    await test.rows<Item>(
      `select failures, not claimed and due_at > now() + interval '500 milliseconds' as waits, due_at
       from work_items where id = $1`,
      [id],
    )
  )[0];

/** Brings each next attempt forward instead of waiting for its backoff; answers the failures seen on the way. */
async function hurryToItsEnd(id: string): Promise<number[]> {
  const seen: number[] = [];
  await eventually(
    async () => {
      const item = await itemOf(id);
      if (item?.waits) {
        seen.push(item.failures);
        await test.rows('update work_items set due_at = now() where id = $1', [id]);
      }
      return item;
    },
    (item) => item === undefined,
    20,
  );
  return seen;
}

describe('an effect that throws what nobody foresaw', () => {
  it('is tried five times with a wait before each, and ends failed with a receipt and a signal', async () => {
    await poison('documents', 'insert');
    const { workspaceId, desk } = await ownDesk();
    const { directiveId, approvalId, approval } = await desk.handInReady({
      text: POISONED,
      capo: 'capo_ops',
    });
    const { workPacketId } = approval.packets[0];
    expect((await desk.approve(approvalId)).status).toBe(200);

    expect(await hurryToItsEnd(workPacketId)).toEqual([1, 2, 3, 4]);
    const failed = await desk.until(directiveId, 'failed');
    expectUnbroken(failed);
    expect((await desk.packets(directiveId))[0]).toMatchObject({
      status: 'failed',
      result: { error: { code: 'UNEXPECTED' } },
    });
    expect(await desk.actions(directiveId)).toContain('packet.failed');
    const signals = await test.rows(
      `select severity from signals where workspace_id = $1 and entity->>'id' = $2`,
      [workspaceId, workPacketId],
    );
    expect(signals).toEqual([{ severity: 'warning' }]);
    expect(await test.rows('select 1 from documents where directive_id = $1', [directiveId])).toEqual([]);
  });

  it('waits longer each time', async () => {
    await poison('documents', 'insert');
    const { desk } = await ownDesk();
    const { approvalId, approval } = await desk.handInReady({ text: POISONED, capo: 'capo_ops' });
    const { workPacketId } = approval.packets[0];
    await desk.approve(approvalId);
    const waits: number[] = [];
    for (const failures of [1, 2, 3]) {
      const item = await eventually(
        () => itemOf(workPacketId),
        (one) => one?.failures === failures && one.waits,
      );
      waits.push(item!.due_at.getTime() - Date.now());
      await test.rows('update work_items set due_at = now() where id = $1', [workPacketId]);
    }
    // Of 1 s, 4 s and 16 s some has passed when the row is read.
    expect(waits[0]).toBeLessThanOrEqual(1_000);
    expect(waits[1]).toBeGreaterThan(1_000);
    expect(waits[1]).toBeLessThanOrEqual(4_000);
    expect(waits[2]).toBeGreaterThan(4_000);
    expect(waits[2]).toBeLessThanOrEqual(16_000);
  });
});

describe('a draft that cannot be taken in for a reason nobody foresaw', () => {
  it('ends failed, with its approval, a receipt and a signal', async () => {
    await poison('approvals', 'update of ready');
    const { workspaceId, desk } = await ownDesk();
    const { directiveId, approvalId } = await desk.handIn({ text: POISONED, capo: 'capo_ops' });
    expect(await hurryToItsEnd(directiveId)).toEqual([1, 2, 3, 4]);
    expect(await desk.until(directiveId, 'failed')).toMatchObject({ error: { code: 'UNEXPECTED' } });
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'cancelled' });
    expect(await desk.actions(directiveId)).toContain('directive.failed');
    expect(
      await test.rows(`select 1 from signals where workspace_id = $1 and entity->>'id' = $2`, [
        workspaceId,
        directiveId,
      ]),
    ).toHaveLength(1);
  });

  it('can be cancelled while it waits for its next try', async () => {
    await poison('approvals', 'update of ready');
    const { desk } = await ownDesk();
    const { directiveId } = await desk.handIn({ text: POISONED, capo: 'capo_ops' });
    await eventually(
      () => itemOf(directiveId),
      (item) => item?.waits === true,
    );
    expect((await desk.client.post(`/directives/${directiveId}/cancel`)).status).toBe(200);
    expect(await itemOf(directiveId)).toBeUndefined();
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'cancelled' });
  });

  it('stays, parked, when it cannot even be given up', async () => {
    await poison('approvals', 'update');
    const { desk } = await ownDesk();
    const { directiveId } = await desk.handIn({ text: POISONED, capo: 'capo_ops' });
    const parked = await eventually(
      async () => {
        await test.rows(
          `update work_items set due_at = now() where id = $1 and not claimed and due_at < 'infinity'`,
          [directiveId],
        );
        const [item] = await test.rows<{ code: string }>(
          `select last_error->>'code' as code from work_items where id = $1 and due_at = 'infinity'`,
          [directiveId],
        );
        return item;
      },
      Boolean,
      20,
    );
    expect(parked).toEqual({ code: 'UNEXPECTED' });
  });
});

describe('200 directives of one workspace that throw', () => {
  it('keep nobody else waiting', { timeout: 60_000 }, async () => {
    await poison('approvals', 'update of ready');
    const { desk } = await ownDesk();
    const handedIn = Array.from({ length: 200 }, () => desk.handIn({ text: POISONED, capo: 'capo_ops' }));
    const poisoned = await Promise.all(handedIn);
    await test.rows('update work_items set due_at = now() where id = any($1)', [
      poisoned.map(({ directiveId }) => directiveId),
    ]);
    const { desk: other } = await ownDesk();
    const { approval } = await other.handInReady({ text: DOCUMENT, capo: 'capo_ops' });
    expect(approval).toMatchObject({ ready: true });
    // The others are still being tried: the one that came last did not wait for them.
    const left = await test.rows('select 1 from work_items where id = any($1)', [
      poisoned.map(({ directiveId }) => directiveId),
    ]);
    expect(left.length).toBeGreaterThan(0);
  });
});
