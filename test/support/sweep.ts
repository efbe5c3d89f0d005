import { expect } from 'vitest';
import { eventually, type TestApp } from './test-app.js';

/**
 * Until the sweep for due work has been round once more, and all that was due before has been claimed: for tests in which
 * nothing may come of it. The witness is an approval of a workspace of its own that expires without anyone being told: the
 * sweep enqueues its end, finds that item due, and has it claimed.
 */
export async function untilSwept(test: TestApp): Promise<void> {
  const { owner } = await test.createWorkspace();
  expect((await owner.post('/agents/capo_ops/pause')).status).toBe(200);
  const { status, body } = await owner.post('/directive', { text: 'Wait.', capo: 'capo_ops' });
  expect(status).toBe(201);
  await test.rows(`update approvals set expires_at = now() - interval '2 seconds' where approval_id = $1`, [
    body.approvalId,
  ]);
  await eventually(
    () => test.rows('select status from approvals where approval_id = $1', [body.approvalId]),
    ([approval]) => approval!['status'] === 'expired',
  );
  // Deliveries wait at their destinations, whose breakers and limits have tests of their own.
  await eventually(
    () => test.rows(`select kind, id from work_items where due_at <= now() and kind <> 'webhook.deliver'`),
    (unclaimed) => unclaimed.length === 0,
  );
}
