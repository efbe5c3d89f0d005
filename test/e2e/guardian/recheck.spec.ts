import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Guardians } from '../../../src/features/guardian/guardians.repository.js';
import { type AllowedBy, PolicyGate, type Recheck } from '../../../src/features/guardian/policy-gate.js';
import { type DecidedPacket } from '../../../src/features/standing-orders/decision-input.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { aPacket } from '../../standing-orders/factories.js';
import { MAIL_TO_ACME, NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';

let test: TestApp;
let desk: OrderDesk;
let gate: PolicyGate;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
  desk = new OrderDesk(test);
  gate = test.app.get(PolicyGate);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
});
afterAll(() => test.close());

const mail = (given: Partial<DecidedPacket> = {}) => ({
  ...aPacket({ params: { to: ['jane@acme.example'] }, ...given }),
  workPacketId: newId('pkt'),
});
type Mail = ReturnType<typeof mail>;

function inTransaction<T>(work: (guardian: Parameters<PolicyGate['recheck']>[1]['guardian']) => Promise<T>) {
  const { workspaceId } = workspace;
  return test.app
    .get(Db)
    .transaction({ workspaceId, teamIds: 'all' }, async () =>
      work(await test.app.get(Guardians).lockShared(workspaceId)),
    );
}

/** Decides a packet as a new draft, and lets it go if the orders allow it. */
async function allow(packet: Mail): Promise<void> {
  await inTransaction(async (guardian) => {
    const [decided] = await gate.decide([packet], { guardian });
    expect(decided!.decision.outcome).toBe('allow');
    gate.use(decided!);
  });
}

const recheck = (packet: Mail, allowedBy: AllowedBy = 'policy'): Promise<Recheck> =>
  inTransaction((guardian) => gate.recheck(packet, { guardian, allowedBy }));

const uses = (packet: Mail) =>
  test.rows<{ standing_order_id: string; at: Date }>(
    'select standing_order_id, at from standing_order_uses where work_packet_id = $1 order by at',
    [packet.workPacketId],
  );

function why(answer: Recheck): string {
  return 'policy' in answer && answer.policy ? answer.policy.decision.explanation.join(' ') : answer.verdict;
}

describe('a work packet that a standing order allowed', () => {
  it('goes while the order stands, and counts once', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME, workspace.owner);
    const packet = mail();
    await allow(packet);
    expect(await recheck(packet)).toEqual({ verdict: 'go' });
    expect(await recheck(packet)).toEqual({ verdict: 'go' });
    expect(await uses(packet)).toMatchObject([{ standing_order_id: standingOrderId }]);
  });

  it.each(['pause', 'archive'] as const)('goes back to review after the %s of the order', async (end) => {
    const standingOrderId = await desk.active(MAIL_TO_ACME, workspace.owner);
    const packet = mail();
    await allow(packet);
    const path = `/standing-orders/${standingOrderId}`;
    const ended =
      end === 'pause' ? await workspace.owner.post(`${path}/pause`) : await workspace.owner.delete(path);
    expect(ended.status, ended.text).toBe(200);
    const answer = await recheck(packet);
    expect(answer.verdict).toBe('review');
    expect(why(answer)).toBe('No standing order allows this work packet.');
  });

  it('goes back to review when the order has expired', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME, workspace.owner);
    const packet = mail();
    await allow(packet);
    await test.rows(
      `update standing_orders set expires_at = now() - interval '1 s' where standing_order_id = $1`,
      [standingOrderId],
    );
    expect((await recheck(packet)).verdict).toBe('review');
  });

  it('is denied once an order denies it', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const packet = mail();
    await allow(packet);
    await desk.create(NO_MAIL, workspace.owner);
    const answer = await recheck(packet);
    expect(answer.verdict).toBe('deny');
    expect(why(answer)).toContain('The standing order "No mail" forbids this work packet.');
    expect(await uses(packet)).toEqual([]);
  });

  it('goes back to review in the mode supervised', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const packet = mail();
    await allow(packet);
    await workspace.owner.put('/guardian/mode', { mode: 'supervised' });
    const answer = await recheck(packet);
    expect(answer.verdict).toBe('review');
    expect(why(answer)).toContain('The guardian is supervised: every work packet needs an approval.');
  });

  it('goes back to review when the operator has come back and the order was for their absence', async () => {
    await workspace.owner.put('/settings', { presence: 'away' });
    await desk.active({ ...MAIL_TO_ACME, when: { presence: ['away'] } }, workspace.owner);
    const packet = mail();
    await allow(packet);
    await workspace.owner.put('/settings', { presence: 'present' });
    expect((await recheck(packet)).verdict).toBe('review');
  });

  it('waits while the guardian only observes, and once the kill switch is engaged', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const packet = mail();
    await allow(packet);
    await workspace.owner.put('/guardian/mode', { mode: 'observe' });
    expect(await recheck(packet)).toEqual({ verdict: 'wait' });
    expect(await recheck(packet, 'person')).toEqual({ verdict: 'wait' });
    await workspace.owner.post('/guardian/kill-switch');
    expect(await recheck(packet)).toEqual({ verdict: 'wait' });
  });

  it('does not stand in its own way at a limit of one', async () => {
    const limits = { maxPerHour: 1, maxPerDay: 1, maxAmountPerDay: 100 };
    const budget = { window: 'month', amount: 100, currency: 'EUR' };
    await desk.active({ ...MAIL_TO_ACME, limits, budget }, workspace.owner);
    const packet = mail({ amount: 100, currency: 'EUR' });
    await allow(packet);
    expect(await recheck(packet)).toEqual({ verdict: 'go' });
    const another = mail({ amount: 1, currency: 'EUR' });
    expect((await recheck(another)).verdict).toBe('review');
  });

  it('is held to the limits of an order that began meanwhile, and counts for it', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const first = mail();
    const second = mail();
    await allow(first);
    await allow(second);
    const pace = await desk.create(
      {
        name: 'One mail a day',
        effect: 'throttle',
        match: { actionTypes: ['email.send'] },
        limits: { maxPerDay: 1 },
      },
      workspace.owner,
    );
    expect(await recheck(first)).toMatchObject({ verdict: 'go', policy: { decision: { outcome: 'allow' } } });
    expect((await uses(first)).map((use) => use.standing_order_id)).toContain(pace);
    const answer = await recheck(second);
    expect(answer.verdict).toBe('throttle');
    // It does not go by this decision, so no order counts it.
    expect(await uses(second)).toEqual([]);
    expect(why(answer)).toContain('it would be work packet 2 of this day');
    const use = (await uses(first)).find(({ standing_order_id: id }) => id === pace);
    const until = use!.at.getTime() + 24 * 3_600_000;
    expect(answer).toMatchObject({ policy: { decision: { throttledUntil: until } } });
  });

  it('counts in the day in which it leaves, not in the one in which it was decided', async () => {
    await desk.active({ ...MAIL_TO_ACME, limits: { maxPerDay: 1 } }, workspace.owner);
    const packet = mail();
    await allow(packet);
    await test.rows(
      `update standing_order_uses set at = now() - interval '2 days' where work_packet_id = $1`,
      [packet.workPacketId],
    );
    expect((await recheck(packet)).verdict).toBe('go');
    const [use, ...more] = await uses(packet);
    expect(more).toEqual([]);
    expect(Date.now() - use!.at.getTime()).toBeLessThan(60_000);
    expect((await recheck(mail())).verdict).toBe('review');
  });

  it('goes to one of two that ask at once for the last place of a limit', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const packets = [mail(), mail()];
    for (const packet of packets) await allow(packet);
    await test.rows('delete from standing_order_uses where workspace_id = $1', [workspace.workspaceId]);
    await desk.create(
      { name: 'One', effect: 'throttle', match: {}, limits: { maxPerDay: 1 } },
      workspace.owner,
    );
    const answers = await Promise.all(packets.map((packet) => recheck(packet)));
    expect(answers.map(({ verdict }) => verdict).toSorted()).toEqual(['go', 'throttle']);
  });

  it('asks the database once', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const packet = mail();
    await allow(packet);
    const trips = await inTransaction(async (guardian) => {
      const { unit } = test.app.get(Db);
      const before = unit.roundTrips;
      await gate.recheck(packet, { guardian, allowedBy: 'policy' });
      return unit.roundTrips - before;
    });
    expect(trips).toBe(1);
  });
});

describe('a work packet that a person approved', () => {
  it('goes without any order that allows it, in the mode supervised too', async () => {
    expect(await recheck(mail(), 'person')).toEqual({ verdict: 'go' });
    await workspace.owner.put('/guardian/mode', { mode: 'supervised' });
    expect(await recheck(mail(), 'person')).toEqual({ verdict: 'go' });
  });

  it('goes past orders that ask or pace: the person was asked', async () => {
    await desk.create({ name: 'Ask', effect: 'require_approval', match: {} }, workspace.owner);
    await desk.create(
      { name: 'Pace', effect: 'throttle', match: {}, limits: { maxRecipients: 1 } },
      workspace.owner,
    );
    expect(await recheck(mail({ recipients: 2 }), 'person')).toEqual({ verdict: 'go' });
  });

  it('goes back to review where its requester approved it and an order wants other eyes', async () => {
    await desk.create(
      { name: 'Two people', effect: 'require_approval', match: {}, approval: { selfApproval: false } },
      workspace.owner,
    );
    expect(await recheck(mail(), 'person')).toEqual({ verdict: 'go' });
    const answer = await recheck(mail(), 'requester');
    expect(answer).toMatchObject({
      verdict: 'review',
      policy: { decision: { approval: { selfApproval: false } } },
    });
    await desk.create(NO_MAIL, workspace.owner);
    expect((await recheck(mail(), 'requester')).verdict).toBe('deny');
  });

  it('is denied once an order denies it', async () => {
    await desk.create(NO_MAIL, workspace.owner);
    const answer = await recheck(mail(), 'person');
    expect(answer.verdict).toBe('deny');
    expect(why(answer)).toContain('The standing order "No mail" forbids this work packet.');
  });

  it('is not denied by an order of another team, nor by one that is paused', async () => {
    const teamId = await test.createTeam(workspace.workspaceId, 'Elsewhere');
    await desk.create({ ...NO_MAIL, teamId }, workspace.owner);
    const paused = await desk.create(NO_MAIL, workspace.owner);
    await workspace.owner.post(`/standing-orders/${paused}/pause`);
    expect(await recheck(mail(), 'person')).toEqual({ verdict: 'go' });
  });
});

describe('the decision', () => {
  it('neither considers nor stores the orders of another team', async () => {
    const teamId = await test.createTeam(workspace.workspaceId, 'Secret');
    await desk.create({ ...NO_MAIL, name: 'Secret order', teamId }, workspace.owner);
    const own = await desk.active(MAIL_TO_ACME, workspace.owner);
    const [decided] = await inTransaction((guardian) => gate.decide([mail()], { guardian }));
    expect(decided!.decision.considered).toEqual([own]);
    expect(JSON.stringify(decided)).not.toContain('Secret');
  });
});
