import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CapoRunner } from '../../../src/features/capos/briefing.js';
import { CAPO_RUNNER } from '../../../src/features/capos/capos.module.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, expectUnbroken } from './desk.js';

let test: TestApp;
let runner: CapoRunner;

beforeAll(async () => {
  test = await startTestApp();
  runner = test.app.get<CapoRunner>(CAPO_RUNNER);
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => test.close());

async function ownDesk(): Promise<Desk> {
  return new Desk(test, (await test.createWorkspace()).owner.token);
}

/** Does this once, while the capo drafts. */
function whileDrafting(act: () => Promise<unknown>): void {
  const run = runner.run.bind(runner);
  vi.spyOn(runner, 'run').mockImplementationOnce(async (...args) => {
    const draft = await run(...args);
    await act();
    return draft;
  });
}

const ALL = [
  'directive.created',
  'approval.requested',
  'directive.routed',
  'directive.started',
  'directive.drafted',
  'approval.ready',
];

describe('a draft that asks no model', () => {
  it('takes four messages to the database from its claim to the approval that is ready', async () => {
    const desk = await ownDesk();
    await desk.handInReady();
    const sent: string[][] = [];
    const prototype = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
    const { query } = prototype;
    vi.spyOn(prototype, 'query').mockImplementation(function (this: unknown, what, ...more) {
      const { statements = [] } = (what ?? {}) as { statements?: readonly { text: string }[] };
      sent.push(statements.map(({ text }) => text));
      return query.call(this, what, ...more);
    });
    const { directiveId } = await desk.handInReady();
    const about = (part: RegExp) => sent.filter((texts) => texts.some((text) => part.test(text)));
    expect(about(/claim_drafts/).length).toBeLessThanOrEqual(2);
    expect(about(/as recent_packets/)).toHaveLength(1);
    expect(about(/from directives .*status in .*\s*for no key update/)).toHaveLength(1);
    expect(about(/^insert into policy_decisions/)).toHaveLength(1);
    expect(about(/^update approvals/)).toEqual(about(/^insert into policy_decisions/));
    expect(await desk.actions(directiveId)).toEqual(ALL);
  });

  it('is made by the next attempt where the database cancels its transaction, and no rejection goes unheard', async () => {
    const unheard = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', unheard);
    const desk = await ownDesk();
    const holder = await test.database.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from guardians for update');
      const { directiveId, approvalId } = await desk.handIn();
      await vi.waitFor(
        async () =>
          expect(
            await test.rows(
              `select pg_cancel_backend(pid) from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock' and query like '%from guardians%'`,
            ),
          ).not.toEqual([]),
        5_000,
      );
      await holder.query('rollback');
      await desk.ready(approvalId);
      expect(await desk.actions(directiveId)).toEqual(ALL);
      expect(unheard).not.toHaveBeenCalled();
    } finally {
      await holder.query('rollback');
      holder.release();
      process.off('unhandledRejection', unheard);
    }
  });

  it('is made when its capo is resumed, where the capo was paused meanwhile', async () => {
    const desk = await ownDesk();
    whileDrafting(() => desk.client.post('/agents/capo_ops/pause'));
    const { directiveId, approvalId } = await desk.handIn();
    await vi.waitFor(async () => expect(await desk.actions(directiveId)).toEqual(ALL.slice(0, 3)), 5_000);
    expect(await desk.approval(approvalId)).toMatchObject({ ready: false, capo: 'capo_ops' });
    await desk.client.post('/agents/capo_ops/resume');
    await desk.ready(approvalId);
    expect(await desk.actions(directiveId)).toEqual(ALL);
    expectUnbroken(await desk.directive(directiveId));
  });

  it('is made once the kill is lifted, where one came meanwhile', async () => {
    const desk = await ownDesk();
    whileDrafting(() => desk.kill());
    const { directiveId, approvalId } = await desk.handIn();
    await vi.waitFor(
      async () =>
        expect(
          await test.rows(`select 1 from work_items where id = $1 and due_at = 'infinity'`, [directiveId]),
        ).toHaveLength(1),
      5_000,
    );
    expect(await desk.actions(directiveId)).toEqual(ALL.slice(0, 2));
    await desk.revert();
    await desk.ready(approvalId);
    expect(await desk.actions(directiveId)).toEqual(ALL);
  });

  it('is not made twice, and leaves nothing where the directive ended meanwhile', async () => {
    const desk = await ownDesk();
    let cancelled: Promise<unknown> | undefined;
    const handedIn = Promise.withResolvers<string>();
    whileDrafting(async () => {
      cancelled = desk.client.post(`/directives/${await handedIn.promise}/cancel`);
      await cancelled;
    });
    const { directiveId } = await desk.handIn();
    handedIn.resolve(directiveId);
    await desk.until(directiveId, 'cancelled');
    await vi.waitFor(() => expect(cancelled).toBeDefined(), 5_000);
    expect(await test.rows('select 1 from work_packets where directive_id = $1', [directiveId])).toEqual([]);
    expect(await desk.actions(directiveId)).not.toContain('directive.started');
  });
});
