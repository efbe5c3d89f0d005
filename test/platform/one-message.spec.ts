import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkDesk, type WorkProcess } from './work-processes.js';

const SCOPE = { workspaceId: 'wks_test', teamIds: 'all' as const };

let desk: WorkDesk;
let process: WorkProcess;
beforeAll(async () => {
  desk = await WorkDesk.open();
  process = await desk.start();
});
afterAll(() => desk.close());

describe('statements of a transaction that are asked for before any is awaited', () => {
  it('travel with the BEGIN in one message, each with its own rows', async () => {
    const { db } = process;
    await db.transaction(SCOPE, async (unit) => {
      const rows = await Promise.all([
        db.query('select 1 as one'),
        unit.batch([{ text: 'select 2 as two' }, { text: 'select 3 as three' }]),
      ]);
      expect(rows).toEqual([[{ one: 1 }], [[{ two: 2 }], [{ three: 3 }]]]);
      expect(unit.roundTrips).toBe(1);
    });
  });

  it('fail together, and what one of them would ask for next never leaves', async () => {
    const { db } = process;
    const late = Promise.withResolvers<unknown>();
    const released = Promise.withResolvers<void>();
    const transaction = db.transaction(SCOPE, async () => {
      await Promise.all([
        db.query('select 1 / 0'),
        released.promise.then(() => db.query('select 1')).catch(late.resolve),
      ]);
    });
    await expect(transaction).rejects.toThrow('division by zero');
    released.resolve();
    expect(await late.promise).toEqual(new Error('this transaction takes no more statements'));
  });
});
