import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewSignal } from '../../../src/features/records/signals.repository.js';
import { SYSTEM } from '../../../src/platform/auth/caller.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { CAPO, SignalDesk } from './signal-desk.js';

const lonely: NewSignal = {
  type: 'agent',
  severity: 'info',
  title: 'A note',
  body: '',
  score: null,
  source: SYSTEM,
  teamId: null,
  capo: null,
  entity: null,
};

let test: TestApp;
let desk: SignalDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new SignalDesk(test);
});
afterAll(() => test.close());

describe('raising a signal', () => {
  it('stores the row and its receipt in one transaction', async () => {
    const before = Date.now();
    const signalId = await desk.raise();
    expect(signalId).toMatch(/^sig_[0-9a-z]{26}$/);
    expect(await desk.row(signalId)).toMatchObject({
      workspace_id: test.workspaceId,
      type: 'buyer',
      severity: 'warning',
      score: 0.75,
      source: CAPO,
      entity: { type: 'buyer', id: 'b-1' },
      acknowledged_at: null,
      withdrawn_at: null,
    });
    const [receipt, ...others] = await desk.receipts(signalId);
    expect(others).toEqual([]);
    expect(receipt).toMatchObject({
      action: 'signal.raised',
      actor: CAPO,
      entity: { type: 'signal', id: signalId },
      capo: 'capo_revenue',
      summary: 'Capo Revenue raised a signal: A buyer went quiet',
      details: { type: 'buyer', severity: 'warning', score: 0.75, about: { type: 'buyer', id: 'b-1' } },
    });
    expect(receipt!.at).toBeGreaterThanOrEqual(before);
  });

  it('leaves neither when the transaction fails', async () => {
    const before = await test.rows('select 1 from receipts');
    const failing = desk.within(test.workspaceId, (signals) => {
      signals.raise({ ...lonely, title: 'Never' });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await test.rows(`select 1 from signals where title = 'Never'`)).toEqual([]);
    expect(await test.rows('select 1 from receipts')).toHaveLength(before.length);
  });
});

describe('withdrawing a signal', () => {
  it('happens once, with one receipt', async () => {
    const signalId = await desk.raise(lonely);
    expect(await desk.within(test.workspaceId, (signals) => signals.withdraw(signalId, SYSTEM))).toBe(true);
    expect(await desk.within(test.workspaceId, (signals) => signals.withdraw(signalId, SYSTEM))).toBe(false);
    expect((await desk.row(signalId)).withdrawn_at).toBeInstanceOf(Date);
    expect(await desk.actions(signalId)).toEqual(['signal.raised', 'signal.withdrawn']);
  });

  it('does not reach into another workspace', async () => {
    const other = await test.createWorkspace();
    const signalId = await desk.raise({}, other.workspaceId);
    expect(await desk.within(test.workspaceId, (signals) => signals.withdraw(signalId, SYSTEM))).toBe(false);
    expect((await desk.row(signalId)).withdrawn_at).toBeNull();
  });
});
