import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Checkpoints } from '../../../src/platform/receipts/checkpoints.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Ledger } from './ledger.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

describe('a chain that cannot be signed', () => {
  it('is named in the log and does not keep the others from their checkpoint', async () => {
    const broken = await Ledger.open(test);
    await broken.fill(1);
    await broken.tamper(`update receipt_heads set hash = repeat('a', 64) where workspace_id = $1`);
    const sound = await Ledger.open(test);
    await sound.fill(1);
    await test.app.get(Checkpoints).signDue();
    const count = 'select count(*)::int as n from receipt_checkpoints where workspace_id = $1';
    expect(await sound.one(count)).toEqual({ n: 1 });
    expect(await broken.one(count)).toEqual({ n: 0 });
    expect(test.logs).toContainEqual(
      expect.objectContaining({
        msg: 'a checkpoint could not be signed; the next try follows in 5 s',
        workspaceId: broken.workspaceId,
        seq: 1,
      }),
    );
  });
});
