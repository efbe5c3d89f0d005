import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Statement } from '../../src/platform/database/batch.js';
import { WorkDesk, type WorkProcess } from './work-processes.js';

const SCOPE = { workspaceId: 'wks_test', teamIds: 'all' as const };

let desk: WorkDesk;
let process: WorkProcess;
beforeAll(async () => {
  desk = await WorkDesk.open();
  process = await desk.start();
});
afterAll(() => desk.close());

/** Adds one to two rows, the second of them only when the other transaction has its first. */
function opposite(first: string, second: string): Statement[] {
  const add = (id: string) => ({
    text: 'update work_items set attempt = attempt + 1 where workspace_id = $1 and id = $2',
    values: ['wks_test', id],
  });
  const mark = {
    text: 'select pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)',
  };
  return [add(first), mark, add(second)];
}

/** Starts both while nobody gets past the middle, so that each holds what the other wants. */
async function atOnce(...acts: (() => Promise<unknown>)[]): Promise<void> {
  await desk.rows('select pg_advisory_lock(1)');
  const acting = acts.map((act) => act());
  for (;;) {
    const [{ waiting }] = (await desk.rows<{ waiting: number }>(
      `select count(*)::int as waiting from pg_locks
       where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`,
    )) as [{ waiting: number }];
    if (waiting === acts.length) break;
  }
  await desk.rows('select pg_advisory_unlock(1)');
  await Promise.all(acting);
}

describe('two transactions that wait for each other', () => {
  it.each<[string, (statements: Statement[]) => Promise<unknown>]>([
    ['in one round trip', (statements) => process.db.writeAll(SCOPE, statements)],
    ['with steps between', (statements) => process.db.transaction(SCOPE, (unit) => unit.batch(statements))],
  ])('both come about, %s', async (_case, run) => {
    const ids = await desk.leave('t.deadlock', `d${Math.random()}`, 2);
    const [one, two] = ids as [string, string];
    await atOnce(
      () => run(opposite(one, two)),
      () => run(opposite(two, one)),
    );
    const items = (await desk.items('t.deadlock')).filter(({ id }) => ids.includes(id));
    expect(items.map(({ attempt }) => attempt)).toEqual([2, 2]);
  });
});
