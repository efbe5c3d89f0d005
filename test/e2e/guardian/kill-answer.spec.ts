import { afterAll, beforeAll, expect, it } from 'vitest';
import { growthRows } from '../../../bench/growth-rows.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
beforeAll(async () => {
  // Nobody sends what is marked as being sent here.
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
afterAll(() => test.close());

it('names what may still arrive to those who may see it, and to nobody else, in its answer and its receipts', async () => {
  const { workspaceId, owner } = await test.createWorkspace();
  const [teamA, teamB] = [await test.createTeam(workspaceId, 'A'), await test.createTeam(workspaceId, 'B')];
  for (const { table, text } of growthRows({ workspaceId, from: 1, to: 3 })) {
    if (['directives', 'work_packets'].includes(table)) await test.rows(text);
  }
  const packets = [1, 2, 3].map((n) => `pkt_${String(n).padStart(26, '0')}`);
  await test.rows(
    `update work_packets set status = 'sending', sending_since = now(), executed_at = null,
       team_id = ($2::text[])[right(work_packet_id, 1)::int] where workspace_id = $1`,
    [workspaceId, [teamA, teamB, null]],
  );
  const killedBy = async (token: string | undefined): Promise<string[]> => {
    await test.rows(
      `update guardians set mode = 'guardrailed', killed_at = null, killed_by = null where workspace_id = $1`,
      [workspaceId],
    );
    const { status, body, text } = await new Client(test.url, token).post('/guardian/kill-switch', {});
    expect([status, body.changed], text).toEqual([200, true]);
    return body.unconfirmed.map(({ workPacketId }: { workPacketId: string }) => workPacketId).toSorted();
  };
  const ofA = await test.createMember(workspaceId, 'operator', [teamA]);
  const ofNone = await test.createMember(workspaceId, 'operator');
  expect(await killedBy(ofA.token)).toEqual([packets[0]]);
  expect(await killedBy(ofNone.token)).toEqual([packets[2]]);
  expect(await killedBy(owner.token)).toEqual(packets);

  const inReceipts = async ({ url, token }: Client): Promise<string[]> => {
    const { text } = await new Client(url, token).get('/audit-feed?action=guardian.*&format=jsonl');
    return [...new Set(text.match(/pkt_\d+/g))].toSorted();
  };
  expect(await inReceipts(ofA)).toEqual([packets[0]]);
  expect(await inReceipts(ofNone)).toEqual([packets[2]]);
  expect(await inReceipts(owner)).toEqual(packets);
});
