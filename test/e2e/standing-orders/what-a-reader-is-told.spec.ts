import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { RecordedHistory } from './history.js';
import { OrderDesk } from './order-desk.js';

type TeamId = `team_${string}`;

/** What only the other team's work packets have in common. */
const SECRET = 'BETASECRET';
const START = Date.UTC(2026, 6, 1, 12);

let test: TestApp;
let desk: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
afterAll(() => test.close());

interface World {
  workspaceId: string;
  owner: Client;
  /** A member of no team. */
  free: TestMember;
  /** Of the team Alpha, with its rights there. */
  alphas: TestMember;
  alpha: TeamId;
  beta: TeamId;
}

/** A workspace with a history that its reader sees a part of; what the other team, or who has no part in it, did comes on top. */
async function world(hidden: (history: RecordedHistory, world: World) => Promise<void>): Promise<World> {
  const { workspaceId, owner } = await test.createWorkspace();
  const alpha = (await test.createTeam(workspaceId, 'Alpha')) as TeamId;
  const beta = (await test.createTeam(workspaceId, 'Beta')) as TeamId;
  const free = await test.createMember(workspaceId, 'operator');
  const alphas = await test.createMember(workspaceId, 'operator', [alpha]);
  const made = { workspaceId, owner, free, alphas, alpha, beta };
  const history = new RecordedHistory(test, workspaceId);
  for (let n = 0; n < 4; n++) {
    await history.decided({ at: START + n, packet: mailTo(`jane${n}@acme.example`) });
    await history.decided({ at: START + n, packet: { ...mailTo(`jane${n}@acme.example`), teamId: alpha } });
  }
  await hidden(history, made);
  return made;
}

function mailTo(address: string) {
  return { params: { to: [address], subject: SECRET }, target: address };
}

/** Many more than are named, by which an order's limits would be used up. */
async function busyBeta(history: RecordedHistory, { beta, workspaceId }: World): Promise<void> {
  await history.decided({ at: START - 1, packet: { ...mailTo('cfo@beta.example'), teamId: beta } });
  await test.rows(
    `insert into policy_decisions select workspace_id, decision_id || n, work_packet_id || n, team_id, at, outcome, decision,
       input, params, target from policy_decisions, generate_series(1, 150) n where workspace_id = $1 and team_id = $2`,
    [workspaceId, beta],
  );
}

/** Ids, times, hashes of ids and who asked differ from workspace to workspace, whatever happened in it. */
function withoutIds(text: string): string {
  return text
    .replaceAll(/\b(so|sim|evl|pkt|mem|team|req|rcp|wks|usr)_[0-9a-z]{26}\b/g, '$1')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'hash')
    .replaceAll(/\b1[0-9]{12}\b/g, 'time')
    .replaceAll(/"(seq|durationMs)":[\d.]+/g, '"$1"')
    .replaceAll(/"name":"[^"]*"/g, '"name"')
    .replaceAll(/\b(owner|operator) [0-9a-z]{4}\b/g, '$1');
}

const ALLOW = {
  name: 'Mail about it',
  effect: 'allow',
  match: { actionTypes: ['email.send'], fields: { 'params.subject': { $prefix: SECRET } } },
  limits: { maxPerDay: 2 },
};
const DENY = { ...ALLOW, effect: 'deny', limits: null };
const NOBODYS = { 'params.to': { $domainIn: ['beta.example'] } };

/** All that a reader is told of an order that they write, and of one that somebody with more rights has written. */
async function told(reader: Client, { owner }: World, teamId: TeamId | undefined): Promise<string[]> {
  const said: string[] = [];
  const say = ({ status, text }: { status: number; text: string }) => said.push(`${status} ${text}`);
  const by = () => desk.elsewhere(reader);
  for (const match of [DENY.match, { ...DENY.match, fields: NOBODYS }]) {
    const made = await by().post('/standing-orders', { ...DENY, match });
    say(made);
    const path = `/standing-orders/${made.body.standingOrderId}`;
    say(await by().post(`${path}/simulate`));
    say(await by().send('PATCH', path, { text: 'Said otherwise.' }));
    say(
      await by().post('/evals/run', {
        name: 'Asked',
        targetEntityType: 'standing_order',
        targetEntityId: made.body.standingOrderId,
      }),
    );
    say(await by().get(`${path}/versions`));
    await desk.elsewhere(owner).delete(path);
  }
  const draft = await desk.create({ ...ALLOW, ...(teamId && { teamId }) }, owner);
  await desk.elsewhere(owner).post(`/standing-orders/${draft}/simulate`);
  say(await by().get(`/standing-orders/${draft}`));
  say(await by().get('/standing-orders?status=draft'));
  say(await by().post(`/standing-orders/${draft}/simulate`));
  await desk.activate(draft, owner);
  say(await by().get(`/standing-orders/${draft}`));
  const receipts = await by().get('/audit-feed?limit=100');
  expect(receipts.status, receipts.text).toBe(200);
  const ofOrders = receipts.body.items.filter(({ action }: { action: string }) =>
    action.startsWith('standing_order.'),
  );
  expect(ofOrders.length).toBeGreaterThan(3);
  said.push(JSON.stringify(ofOrders));
  expect(said.filter((one) => !/^(20\d |\[)/.test(one))).toEqual([]);
  return said.map(withoutIds);
}

describe.each([
  ['a member of no team', (of: World) => of.free, () => undefined],
  ['a member of a team', (of: World) => of.alphas, (of: World) => of.alpha],
])('what %s is told of standing orders', (_who, readerOf, teamOf) => {
  it('is the same whatever other teams did', async () => {
    const quiet = await world(async () => undefined);
    const busy = await world(busyBeta);
    const [one, other] = [
      await told(readerOf(quiet), quiet, teamOf(quiet)),
      await told(readerOf(busy), busy, teamOf(busy)),
    ];
    expect(other).toEqual(one);
  });

  it('counts what they see', async () => {
    const busy = await world(busyBeta);
    const { body } = await desk.elsewhere(readerOf(busy)).post('/standing-orders', DENY);
    expect(body.simulation).toMatchObject({ considered: 4, escalated: 4, unchanged: 0 });
  });
});

describe('what an owner is told', () => {
  it('is all that an order of the whole workspace would have done', async () => {
    const busy = await world(busyBeta);
    const standingOrderId = await desk.create(DENY, busy.free);
    const { body } = await desk.elsewhere(busy.owner).post(`/standing-orders/${standingOrderId}/simulate`);
    expect(body).toMatchObject({ considered: 159, escalated: 159, changesOmitted: 59 });
    const read = await desk.elsewhere(busy.owner).get(`/standing-orders/${standingOrderId}`);
    expect(read.body.simulation).toMatchObject({ considered: 159, escalated: 159 });
  });

  it('holds an order of the whole workspace for what it relaxes of any team, and counts that to them alone', async () => {
    const busy = await world(async () => undefined);
    const standingOrderId = await desk.create(
      { ...DENY, effect: 'require_approval', name: 'Ask' },
      busy.owner,
    );
    await desk.elsewhere(busy.owner).post(`/standing-orders/${standingOrderId}/pause`);
    await test.rows(`update policy_decisions set outcome = 'deny' where workspace_id = $1 and team_id = $2`, [
      busy.workspaceId,
      busy.alpha,
    ]);
    // The simulation goes by what was recorded last.
    await test.rows(`delete from simulations where workspace_id = $1`, [busy.workspaceId]);
    const answer = await desk.elsewhere(busy.owner).post(`/standing-orders/${standingOrderId}/activate`);
    expect(answer.status).toBe(409);
    expect(answer.body.error.message).toContain('about 4 work packets of the past');
    await test.rows(
      `update standing_orders set status = 'draft', held_because = $2 where standing_order_id = $1`,
      [standingOrderId, answer.body.error.message],
    );
    const path = `/standing-orders/${standingOrderId}`;
    expect((await desk.elsewhere(busy.owner).get(path)).body.heldBecause).toContain('4 work packets');
    expect((await desk.elsewhere(busy.free).get(path)).body.heldBecause).toBe(
      'An owner must allow it with "acknowledge": true and "version": 1.',
    );
  });
});
