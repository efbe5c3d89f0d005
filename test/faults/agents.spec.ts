import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

it('GET /agents stays quick however much was carried out before', async () => {
  const { workspaceId, owner } = await test.createWorkspace();
  await test.rows(
    `insert into directives (directive_id, workspace_id, text, capo, routed_by, priority, requires_approval, context,
       status, created_by, created_at, executed_at)
     select 'dir_' || $1 || n, $1, 'x', 'capo_ops', 'operator', 'medium', true, '{}', 'executed', '{}',
       now() - n * interval '1 hour', now() - n * interval '1 hour' from generate_series(1, 20000) n`,
    [workspaceId],
  );
  await test.rows('analyze directives');
  const before = performance.now();
  const { body } = await owner.get<{ agents: { role: string; status: string }[] }>('/agents');
  expect(body.agents.find(({ role }) => role === 'capo_ops')).toMatchObject({ status: 'active' });
  expect(performance.now() - before).toBeLessThan(500);
});
