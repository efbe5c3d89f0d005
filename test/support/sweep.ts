import { expect } from 'vitest';
import { eventually, type TestApp } from './test-app.js';

/**
 * Until the sweep has been round once more, so that whatever was due before has been found: for tests in which nothing
 * may come of it. The witness is work of a workspace of its own that falls due without anyone being told.
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
}
