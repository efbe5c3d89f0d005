import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DirectiveView } from '../../../src/features/directives/directives.dto.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from './order-desk.js';

let test: TestApp;
let desk: OrderDesk;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
});
afterAll(() => test.close());

const shadowed = async (order: object): Promise<string> => {
  const standingOrderId = await desk.create(order, workspace.owner);
  const answer = await shadow(standingOrderId);
  expect(answer.status, answer.text).toBe(200);
  return standingOrderId;
};

const shadow = (standingOrderId: string, by = workspace.owner) =>
  desk.elsewhere(by).post(`/standing-orders/${standingOrderId}/activate`, { shadow: true });

/** A mail that nobody wants to approve, once it has ended or waits for a person; with its work packet. */
async function mailed() {
  const { owner } = workspace;
  const answer = await desk.elsewhere(owner).post('/directives', {
    directive: 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.',
    capo: 'capo_marketing',
    requiresApproval: false,
  });
  const directive = await eventually(
    async () =>
      (await desk.elsewhere(owner).get<DirectiveView>(`/directives/${answer.body.directiveId}`)).body,
    ({ status }) => !['queued', 'executing', 'sending'].includes(status),
  );
  const packet = (await desk.elsewhere(owner).get(`/work-packets/${directive.workPacketIds[0]}`)).body;
  return { directive, packet };
}

describe('an order in shadow', () => {
  it('changes nothing, and says what it would have denied', async () => {
    const allow = await desk.active(MAIL_TO_ACME, workspace.owner);
    const standingOrderId = await shadowed(NO_MAIL);
    const { directive, packet } = await mailed();
    expect(directive.status).toBe('executed');
    expect(packet.decision).toMatchObject({
      outcome: 'allow',
      explanation: ['The standing order "Mail to Acme" allows this work packet.'],
      matched: [{ standingOrderId: allow }],
      shadow: [
        {
          standingOrderId,
          version: 1,
          effect: 'deny',
          outcome: 'deny',
          explanation: ['The standing order "No mail" forbids this work packet.'],
        },
      ],
    });
    expect(packet.decision.considered.toSorted()).toEqual([allow, standingOrderId].toSorted());
  });

  it('lets nothing out that it would have allowed', async () => {
    const standingOrderId = await shadowed(MAIL_TO_ACME);
    const { directive, packet } = await mailed();
    expect(directive.status).toBe('pending_approval');
    expect(packet.decision).toMatchObject({
      outcome: 'require_approval',
      explanation: ['No standing order allows this work packet.'],
      matched: [],
      shadow: [{ standingOrderId, outcome: 'allow' }],
    });
  });

  it('is judged by itself, with what the active orders say', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const ask = await shadowed({ ...NO_MAIL, effect: 'require_approval' });
    const deny = await shadowed(NO_MAIL);
    const { packet } = await mailed();
    const outcomes = Object.fromEntries(
      packet.decision.shadow.map((one: { standingOrderId: string; outcome: string }) => [
        one.standingOrderId,
        one.outcome,
      ]),
    );
    expect(outcomes).toEqual({ [ask]: 'require_approval', [deny]: 'deny' });
  });

  it('counts what goes out meanwhile towards its limits', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const pace = { ...NO_MAIL, effect: 'throttle', limits: { maxPerDay: 1 } };
    const standingOrderId = await shadowed(pace);
    expect((await mailed()).packet.decision.shadow).toMatchObject([{ outcome: 'allow' }]);
    expect((await mailed()).packet.decision.shadow).toMatchObject([{ standingOrderId, outcome: 'throttle' }]);
    const uses = await test.rows('select 1 from standing_order_uses where standing_order_id = $1', [
      standingOrderId,
    ]);
    expect(uses).toHaveLength(2);
  });

  it('is stored with the decision, which comes out the same from what is stored', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    await shadowed(NO_MAIL);
    const { packet } = await mailed();
    const [decision] = await test.rows<{ decision: object; input: object }>(
      'select decision, input from policy_decisions where work_packet_id = $1',
      [packet.workPacketId],
    );
    expect(decision!.decision).toMatchObject({ shadow: [{ outcome: 'deny' }] });
  });
});

describe('POST /standing-orders/:id/activate with shadow', () => {
  it('sets an order to shadow, with a receipt, and needs no acknowledgement', async () => {
    const standingOrderId = await desk.create(MAIL_TO_ACME);
    const admin = await desk.member('admin');
    const answer = await shadow(standingOrderId, admin);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ status: 'shadow', activatedAt: null, version: 1 });
    expect((await desk.receipts(standingOrderId)).at(-1)).toMatchObject({
      action: 'standing_order.shadowed',
      details: { status: 'shadow' },
    });
    expect((await shadow(standingOrderId, admin)).body).toEqual(answer.body);
    expect(await desk.actions(standingOrderId)).toHaveLength(2);
    const listed = await desk.elsewhere(test.owner).get('/standing-orders?status=shadow');
    expect(listed.body.items).toMatchObject([{ standingOrderId }]);
  });

  it('can be activated, paused and archived from there', async () => {
    const [one, two, three] = [
      await shadowed(FILE_DOCUMENTS),
      await shadowed(FILE_DOCUMENTS),
      await shadowed(FILE_DOCUMENTS),
    ];
    const { owner } = workspace;
    const act = (id: string, path: string) =>
      desk.elsewhere(owner).post(`/standing-orders/${id}/${path}`, {});
    expect((await act(one, 'activate')).body.status).toBe('active');
    expect((await desk.elsewhere(owner).post(`/standing-orders/${two}/pause`)).body.status).toBe('paused');
    expect((await desk.elsewhere(owner).delete(`/standing-orders/${three}`)).body.status).toBe('archived');
  });

  it('takes an admin, as a pause of what restricts does', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    expect((await shadow(standingOrderId, await desk.member('operator'))).status).toBe(403);
    expect((await desk.row(standingOrderId)).status).toBe('active');
  });

  it('lets an operator pause what is only tried out', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    await shadow(standingOrderId, test.owner);
    const operator = await desk.member('operator');
    expect((await operator.post(`/standing-orders/${standingOrderId}/pause`)).status).toBe(200);
  });

  it('answers 409 for an order that is archived or has expired', async () => {
    const archived = await desk.create(NO_MAIL);
    await desk.elsewhere(test.owner).delete(`/standing-orders/${archived}`);
    expect((await shadow(archived, test.owner)).status).toBe(409);
    const expired = await desk.create({ ...NO_MAIL, expiresAt: test.clock.now() + 60_000 });
    test.clock.advance(120_000);
    const answer = await shadow(expired, test.owner);
    test.clock.goOn();
    expect(answer.status).toBe(409);
    expect(answer.body.error.message).toBe(
      'The standing order has expired, so trying it out would have no effect.',
    );
  });

  it('answers 422 for anything but true', async () => {
    const path = `/standing-orders/${await desk.create(NO_MAIL)}/activate`;
    const answer = await desk.elsewhere(test.owner).post(path, { shadow: false });
    expect(answer.status).toBe(422);
  });
});
