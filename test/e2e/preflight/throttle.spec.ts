import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DirectiveView } from '../../../src/features/directives/directives.dto.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { MAIL_TO_JANE, preflight } from './preflight-desk.js';

const HOUR = 3_600_000;
const MAIL = 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.';
const ALL_MAIL = { name: 'All mail', effect: 'allow', match: { actionTypes: ['email.send'] } };

let test: TestApp;
let orders: OrderDesk;
let workspace: TestWorkspace;
let pace: string;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
  await orders.active(ALL_MAIL, workspace.owner);
  pace = await orders.create(
    { name: 'One an hour', effect: 'throttle', match: ALL_MAIL.match, limits: { maxPerHour: 1 } },
    workspace.owner,
  );
});
afterAll(() => test.close());

/** Hands in a mail that nobody wants to approve; answers the directive once it is sent, delayed, or waits for a person. */
async function handIn(directive = MAIL): Promise<DirectiveView> {
  const { owner } = workspace;
  const body = { directive, capo: 'capo_ops', requiresApproval: false };
  const answer = await orders.elsewhere(owner).post('/directives', body);
  expect(answer.status, answer.text).toBe(201);
  const path = `/directives/${answer.body.directiveId}`;
  return eventually(
    async () => (await orders.elsewhere(owner).get<DirectiveView>(path)).body,
    ({ status, throttledUntil }) =>
      throttledUntil !== null || !['queued', 'executing', 'sending'].includes(status),
  );
}

/** One mail has gone 50 minutes ago; answers when. */
async function sentBefore(): Promise<number> {
  expect((await handIn()).status).toBe('executed');
  const [use] = await test.rows<{ at: Date }>(
    `update standing_order_uses set at = at - interval '50 minutes' where standing_order_id = $1 returning at`,
    [pace],
  );
  return use!.at.getTime();
}

async function decisionOf({ workPacketIds: [id] }: DirectiveView) {
  return (await orders.elsewhere(workspace.owner).get(`/work-packets/${id}`)).body.decision;
}

describe('POST /guardian/preflight 200 where a standing order throttles', () => {
  it('names the time at which there is room, as the gate does, also behind what waits already', async () => {
    const sentAt = await sentBefore();
    for (const rounds of [1, 2, 3]) {
      const until = sentAt + rounds * HOUR;
      const asked = { action: MAIL_TO_JANE, capo: 'capo_ops' };
      const ofAction = (await preflight(workspace.owner, asked)).body;
      const ofDirective = (await preflight(workspace.owner, { directive: MAIL, capo: 'capo_ops' })).body;
      const limit = { standingOrderId: pace, limit: 'maxPerHour', allowed: 1, used: 2, holds: false, until };
      for (const answer of [ofAction, ofDirective]) {
        expect(answer).toMatchObject({ outcome: 'throttle', limits: [limit] });
        expect(answer.explanation[0]).toContain(`there is room again at ${new Date(until).toISOString()}`);
      }
      const delayed = await handIn();
      expect(delayed.throttledUntil).toBe(until);
      const { outcome, limits, explanation } = await decisionOf(delayed);
      expect(ofDirective).toMatchObject({ outcome, limits, explanation });
    }
  });

  it('lets the work packets of one draft wait one after the other', async () => {
    const sentAt = await sentBefore();
    const directive = `${MAIL}\nEmail joe@acme.example, subject "Invoice": It comes by post.`;
    const { body } = await preflight(workspace.owner, { directive, capo: 'capo_ops' });
    expect(body.packets.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['throttle', 'throttle']);
    const times = [1, 2].map((rounds) => new Date(sentAt + rounds * HOUR).toISOString());
    for (const time of times) expect(body.explanation.join(' ')).toContain(time);
    const { workPacketIds } = await handIn(directive);
    const until = await test.rows<{ at: Date }>(
      'select throttled_until as at from work_packets where work_packet_id = any($1) order by position',
      [workPacketIds],
    );
    expect(until.map(({ at }) => at.toISOString())).toEqual(times);
  });

  it('asks for what a person has to supply, and so does the approval of the draft', async () => {
    await sentBefore();
    const directive = 'Send a mail: The delivery arrives on Friday.';
    const { body } = await preflight(workspace.owner, { directive, capo: 'capo_ops' });
    expect(body).toMatchObject({ outcome: 'require_approval', packets: [{ outcome: 'throttle' }] });
    const { status, approvalId } = await handIn(directive);
    expect(status).toBe('pending_approval');
    const approval = await orders.elsewhere(workspace.owner).get(`/approvals/${approvalId}`);
    expect(approval.body.policy.outcome).toBe('require_approval');
    expect(approval.body.policy.explanation[0]).toBe(body.explanation[0]);
  });
});
