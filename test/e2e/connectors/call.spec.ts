import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Compensation } from '../../../src/features/capos/action-types.js';
import { CallEffect } from '../../../src/features/directives/packets/outside-effects.js';
import { draftPacket } from '../../support/scripted-runner.js';
import { eventually } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { call, ConnectorDesk, CREATE, created, SECRET } from './connector-desk.js';

let crm: ConnectorDesk;
beforeAll(async () => {
  crm = await ConnectorDesk.start();
});
afterAll(() => crm.close());
beforeEach(() => crm.answers(created));

const TAG = call('tag_contact', { id: 'c/42', tag: 'big customer' });
const FIND = call('find_contact', { email: 'jane+1@acme.example' });

const failure = async (directiveId: string) =>
  (await crm.packetOf(directiveId, 'failed')).result.error as { code: string; message: string };

describe('a call that a person approved', () => {
  it('sends exactly this, and keeps how it is undone', async () => {
    const { approval, approvalId, directiveId } = await crm.drafted(CREATE);
    expect(approval).toMatchObject({ reversibility: 'externally_reversible', risk: 'medium' });
    const [shown] = approval.packets;
    const url = `http://${crm.service.hostPort}/v1/contacts`;
    expect(shown.action).toEqual({
      type: 'http.call',
      target: `POST ${url}`,
      params: {
        ...CREATE.params,
        request: `POST ${url}`,
        definition: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(approval.output.body).toContain('jane@acme.example');
    expect(crm.service.received).toEqual([]);

    expect((await crm.desk.approve(approvalId)).status).toBe(200);
    const packet = await crm.packetOf(directiveId, 'executed');
    const [received, ...others] = crm.service.received;
    expect(others).toEqual([]);
    expect(received).toMatchObject({ method: 'POST', path: '/v1/contacts' });
    expect(JSON.parse(received!.body.toString())).toEqual(CREATE.params.arguments);
    expect(received!.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      'x-client': 'consigliere',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'Consigliere',
    });
    expect(received!.headers['idempotency-key']).toBeUndefined();
    expect(packet).toMatchObject({
      status: 'executed',
      attempts: 1,
      result: { status: 201, answer: '{"contact":{"id":"c_42"}}' },
      compensation: {
        type: 'http.undo',
        params: { connector: 'crm', operation: 'delete_contact', arguments: { id: 'c_42' } },
      },
    });
    const done = await crm.desk.directive(directiveId);
    expect(done.history.at(-1)).toMatchObject({ to: 'executed' });
    expect(await crm.desk.actions(directiveId)).toContain('packet.executed');
  });

  it('writes what stands in a path so that it cannot reach another one', async () => {
    const { directiveId, workPacketId } = await crm.approved(TAG);
    await crm.packetOf(directiveId, 'executed');
    expect(crm.service.received).toHaveLength(1);
    expect(crm.service.received[0]).toMatchObject({
      method: 'PUT',
      path: '/v1/contacts/c%2F42/tags/big%20customer',
      headers: { 'idempotency-key': workPacketId },
    });
  });

  it('that only reads is read-only, has a query, and nothing that undoes it', async () => {
    const { approval, approvalId, directiveId } = await crm.drafted(FIND);
    expect(approval).toMatchObject({ reversibility: 'read_only', risk: 'low' });
    await crm.desk.approve(approvalId);
    const packet = await crm.packetOf(directiveId, 'executed');
    expect(crm.service.received[0]).toMatchObject({
      method: 'GET',
      path: '/v1/contacts?email=jane%2B1%40acme.example',
    });
    expect(crm.service.received[0]!.body).toHaveLength(0);
    expect(packet).toMatchObject({ reversibility: 'read_only', compensation: null });
  });

  it('whose answer lacks what its undo needs says so', async () => {
    crm.answers((_received, response) => response.end('{"contact":{}}'));
    const { directiveId } = await crm.approved(CREATE);
    expect((await crm.packetOf(directiveId, 'executed')).compensation).toMatchObject({
      type: 'http.undo',
      params: { operation: 'delete_contact', missing: ['response.contact.id'] },
    });
  });
});

describe('the eval of a call', () => {
  const evalOf = async (workPacketId: string) => {
    const body = { targetEntityType: 'workflow_candidate', targetEntityId: workPacketId, name: 'Check' };
    const answer = await crm.desk.client.post('/evals/run', body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };

  it.each([
    ['changes something', CREATE],
    ['only reads', FIND],
  ])('that %s finds it sound, before it is approved and after', async (_what, packet) => {
    const { approval, approvalId, directiveId } = await crm.drafted(packet);
    const { workPacketId } = approval.packets[0];
    expect(await evalOf(workPacketId)).toMatchObject({ passed: true, score: 1, findings: [] });
    expect((await crm.desk.approve(approvalId)).status).toBe(200);
    await crm.packetOf(directiveId, 'executed');
    expect(await evalOf(workPacketId)).toMatchObject({ passed: true, score: 1, findings: [] });
  });

  it('finds what a draft cannot say of itself', async () => {
    const { approval } = await crm.drafted(CREATE);
    const { workPacketId } = approval.packets[0];
    await crm.test.rows(
      `update work_packets set reversibility = 'read_only', compensation = null where work_packet_id = $1`,
      [workPacketId],
    );
    const { passed, findings } = await evalOf(workPacketId);
    expect(passed).toBe(false);
    expect(findings.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual([
      'packet.compensation',
      'packet.reversibility',
    ]);
  });
});

describe('a service that misbehaves', () => {
  it('hangs: the call is not made again, and a person hears of it', async () => {
    crm.answers(() => undefined);
    const { directiveId, workPacketId } = await crm.approved(CREATE);
    expect(await failure(directiveId)).toMatchObject({ code: 'CALL_UNCONFIRMED' });
    expect(crm.service.received).toHaveLength(1);
    const signals = await crm.test.rows(`select severity from signals where entity->>'id' = $1`, [
      workPacketId,
    ]);
    expect(signals).toEqual([{ severity: 'critical' }]);
  });

  it('drips its answer without end', async () => {
    crm.answers((_received, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    });
    const { directiveId } = await crm.approved(CREATE);
    expect(await failure(directiveId)).toMatchObject({ code: 'CALL_UNCONFIRMED' });
  });

  it('redirects to this service: nobody follows', async () => {
    crm.answers((_received, response) => {
      response.writeHead(307, { Location: `${crm.test.url}/api/pro/guardian/kill-switch` });
      response.end();
    });
    const { directiveId } = await crm.approved(CREATE);
    const { code, message } = await failure(directiveId);
    expect(code).toBe('CALL_REFUSED');
    expect(message).toContain('redirect');
    expect(crm.service.received).toHaveLength(1);
    expect((await crm.test.owner.get('/guardian')).body.mode).toBe('guardrailed');
  });

  it('answers 20 MB: the status counts, 2 KiB are kept', async () => {
    crm.answers((_received, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(`{"contact":{"id":"c_42"},"x":"${'x'.repeat(20_000_000)}"}`);
    });
    const { directiveId } = await crm.approved(CREATE);
    const packet = await crm.packetOf(directiveId, 'executed');
    expect(packet.result.answer.length).toBe(2_048);
    expect(packet.compensation.params.missing).toEqual(['response.contact.id']);
  });

  it.each([400, 401, 404, 409, 422])('answers %i: it is not asked again', async (status) => {
    crm.answers((_received, response) => {
      response.statusCode = status;
      response.end();
    });
    const { directiveId } = await crm.approved(CREATE);
    expect(await failure(directiveId)).toMatchObject({ code: 'CALL_REFUSED' });
    expect(crm.service.received).toHaveLength(1);
  });

  it('says why it refuses: the packet keeps it', async () => {
    crm.answers((_received, response) => {
      response.statusCode = 422;
      response.end('{"email":"is taken"}');
    });
    const { directiveId } = await crm.approved(CREATE);
    expect((await crm.packetOf(directiveId, 'failed')).result).toEqual({
      status: 422,
      answer: '{"email":"is taken"}',
      error: { code: 'CALL_REFUSED', message: 'create_contact of crm answered 422.' },
    });
    // Receipts are kept for good.
    expect(await crm.test.rows(`select 1 from receipts where position('is taken' in body) > 0`)).toEqual([]);
  });

  it('gives no answer to a call that is made again: until then it counts as one that may have left', async () => {
    crm.answers((_received, response) => response.destroy());
    const { directiveId, workPacketId } = await crm.approved(TAG);
    const row = () =>
      crm.test.rows<{ status: string; code: string }>(
        `select status, result->'error'->>'code' as code from work_packets where work_packet_id = $1`,
        [workPacketId],
      );
    const [waiting] = await eventually(row, ([packet]) => packet!.code === 'CALL_UNCONFIRMED');
    expect(waiting!.status).toBe('sending');
    expect((await crm.desk.kill()).body.unconfirmed).toMatchObject([{ workPacketId }]);
    crm.answers(created);
    await crm.desk.revert();
    await crm.packetOf(directiveId, 'executed');
    expect(crm.service.received[0]!.headers['idempotency-key']).toBe(workPacketId);
  });

  it('answers 500: what may have taken effect is not called again', async () => {
    crm.answers((_received, response) => {
      response.statusCode = 500;
      response.end();
    });
    const { directiveId } = await crm.approved(CREATE);
    expect(await failure(directiveId)).toMatchObject({ code: 'CALL_UNCONFIRMED' });
    expect(crm.service.received).toHaveLength(1);
  });

  it.each(['500', 'nothing, and breaks the connection off'])(
    'answers %s, then well: what heeds a key is called again with the same one',
    async (how) => {
      crm.answers((received, response, count) => {
        if (count > 1) return created(received, response, count);
        if (how !== '500') return response.destroy();
        response.statusCode = 500;
        response.end();
      });
      const { directiveId, workPacketId } = await crm.approved(TAG);
      expect(await crm.packetOf(directiveId, 'executed')).toMatchObject({ attempts: 2 });
      expect(crm.service.received.map(({ headers }) => headers['idempotency-key'])).toEqual([
        workPacketId,
        workPacketId,
      ]);
    },
  );

  it('asks to come again later: nothing was done, so it is called again', async () => {
    crm.answers((received, response, count) => {
      if (count > 1) return created(received, response, count);
      response.writeHead(429, { 'Retry-After': '1' });
      response.end();
    });
    const { directiveId } = await crm.approved(CREATE);
    expect(await crm.packetOf(directiveId, 'executed')).toMatchObject({ attempts: 2 });
    expect(crm.service.received).toHaveLength(2);
  });
});

describe('the kill switch during a call', () => {
  it('leaves one that may have taken effect unconfirmed', async () => {
    crm.answers(() => undefined);
    const { directiveId, workPacketId } = await crm.approved(CREATE);
    await eventually(async () => crm.service.received.length === 1);
    const killed = await crm.desk.kill();
    expect(killed.body.unconfirmed).toMatchObject([{ workPacketId }]);
    await eventually(
      () =>
        crm.test.rows('select status, result from work_packets where work_packet_id = $1', [workPacketId]),
      ([row]) => row!['status'] === 'failed',
    );
    await crm.desk.revert();
    expect(await failure(directiveId)).toMatchObject({ code: 'CALL_UNCONFIRMED' });
    expect(crm.service.received).toHaveLength(1);
  });

  it('halts one that may be repeated; it goes on with the revert, under the same key', async () => {
    crm.answers(() => undefined);
    const { directiveId, workPacketId } = await crm.approved(TAG);
    await eventually(async () => crm.service.received.length === 1);
    expect((await crm.desk.kill()).status).toBe(200);
    await eventually(
      () => crm.test.rows('select status from work_packets where work_packet_id = $1', [workPacketId]),
      ([row]) => row!['status'] === 'halted',
    );
    crm.answers(created);
    expect(crm.service.received).toEqual([]);
    await crm.desk.revert();
    await crm.packetOf(directiveId, 'executed');
    expect(crm.service.received.map(({ headers }) => headers['idempotency-key'])).toEqual([workPacketId]);
  });
});

describe('the undo of a call', () => {
  /** Undoes an executed packet as a revert does. */
  async function undo({ workPacketId, compensation }: { workPacketId: string; compensation: Compensation }) {
    const calls = crm.test.app.get(CallEffect, { strict: false });
    const effect = await calls.undo(crm.test.workspaceId, compensation.params);
    return effect.run({ workPacketId }, AbortSignal.timeout(10_000));
  }

  it('calls the declared operation with what was answered', async () => {
    const { directiveId } = await crm.approved(CREATE);
    const packet = await crm.packetOf(directiveId, 'executed');
    crm.answers((_received, response) => {
      response.statusCode = 204;
      response.end();
    });
    expect(await undo(packet)).toEqual({ status: 204 });
    expect(crm.service.received).toMatchObject([{ method: 'DELETE', path: '/v1/contacts/c_42' }]);
    expect(crm.service.received[0]!.headers).toMatchObject({ authorization: `Bearer ${SECRET}` });
  });

  it('has a key of its own where the service heeds one', async () => {
    const { directiveId, workPacketId } = await crm.approved(TAG);
    const packet = await crm.packetOf(directiveId, 'executed');
    crm.answers(created);
    await undo(packet);
    expect(crm.service.received[0]!.headers['idempotency-key']).toBe(`${workPacketId}-undo`);
  });

  it.each<[string, (undo: Compensation) => void, string]>([
    [
      'whose answer lacked something',
      (made) => {
        made.params = { connector: 'crm', operation: 'delete_contact', missing: ['response.contact.id'] };
      },
      'lacked response.contact.id',
    ],
    [
      'of a connector that is gone',
      (made) => (made.params['connector'] = 'erp'),
      'has no longer the connector erp',
    ],
    [
      'that the file describes in another way by now',
      (made) => (made.params['definition'] = 'f'.repeat(64)),
      'says something else',
    ],
    [
      'with arguments that the operation does not take',
      (made) => (made.params['arguments'] = { id: '..' }),
      'must not be empty',
    ],
  ])('does nothing for one %s', async (_what, change, message) => {
    const packet = await crm.packetOf((await crm.approved(CREATE)).directiveId, 'executed');
    crm.answers(created);
    change(packet.compensation);
    await expect(undo(packet)).rejects.toThrow(message);
    expect(crm.service.received).toEqual([]);
  });
});

describe('the secret of a connector', () => {
  it('stands nowhere, though the service repeats it in every way', async () => {
    const spellings = [
      SECRET,
      SECRET.replaceAll('/', String.raw`\/`),
      encodeURIComponent(SECRET),
      Buffer.from(SECRET).toString('base64'),
      Buffer.from(SECRET).toString('base64url'),
    ];
    crm.answers((_received, response) => {
      response.setHeader('X-Echo', SECRET);
      // Across the place where the kept part of an answer ends, too.
      const body = { contact: { id: SECRET }, spellings, pad: 'x'.repeat(1_600), more: SECRET.repeat(30) };
      response.end(JSON.stringify(body).replaceAll(String.raw`\\/`, String.raw`\/`));
    });
    const { directiveId } = await crm.approved(CREATE);
    const packet = await crm.packetOf(directiveId, 'executed');
    expect(packet.result.answer).toContain('[redacted]');
    crm.answers((_received, response) => {
      response.statusCode = 401;
      response.end(`The key ${SECRET} is wrong`);
    });
    await failure((await crm.approved(CREATE)).directiveId);

    const answers = await Promise.all(
      [
        '/audit-feed?limit=100',
        '/feed?limit=100',
        '/signals',
        '/context',
        '/engines',
        `/directives/${directiveId}`,
      ].map(async (path) => (await crm.test.owner.get(path)).text),
    );
    for (const spelling of spellings) {
      expect(await crm.tablesWith(spelling)).toEqual([]);
      expect(JSON.stringify(crm.test.logs)).not.toContain(JSON.stringify(spelling).slice(1, -1));
      expect(answers.join()).not.toContain(spelling);
      expect(JSON.stringify(packet)).not.toContain(spelling);
    }
  });
});

describe('a draft of a call', () => {
  it.each([
    ['of an operation that there is not', call('drop_all', {})],
    ['of what only undoes', call('delete_contact', { id: 'c_42' })],
    ['of another connector', { ...CREATE, params: { ...CREATE.params, connector: 'erp' } }],
    ['with a parameter that there is not', call('find_contact', { email: 'a@b.example', all: true })],
    ['with a value of another kind', call('find_contact', { email: 7 })],
    ['without a value that is required', call('create_contact', { name: 'Jane' })],
    ['with dots in its path', call('tag_contact', { id: '..', tag: 'x' })],
    ['with nothing in its path', call('tag_contact', { id: '', tag: 'x' })],
    [
      'of an undo',
      {
        type: 'http.undo',
        params: { connector: 'crm', operation: 'delete_contact', arguments: { id: 'c' } },
      },
    ],
  ])('%s is refused', async (_what, packet) => {
    const text = `Try ${JSON.stringify(packet)}`;
    crm.runner.answer(text, {
      packets: [draftPacket(packet)],
    });
    const { directiveId } = await crm.desk.handIn({ text, capo: 'capo_ops' });
    expect((await crm.desk.until(directiveId, 'failed')).error).toMatchObject({ code: 'INVALID_OUTPUT' });
    expect(crm.service.received).toEqual([]);
  });

  it('is refused in a workspace that may not use the connector', async () => {
    const { owner } = await crm.test.createWorkspace();
    const text = 'Call it from elsewhere';
    crm.runner.answer(text, {
      packets: [draftPacket(CREATE)],
    });
    const { body } = await owner.post('/directive', { text, capo: 'capo_ops' });
    const failed = await eventually(
      async () => (await owner.get(`/directives/${body.directiveId}`)).body,
      ({ status }) => status === 'failed',
    );
    expect(failed.error).toMatchObject({ code: 'INVALID_OUTPUT' });
  });

  it('takes nothing from its runner that only the file can say', async () => {
    const lies = {
      request: 'GET https://harmless.example/',
      definition: 'f'.repeat(64),
      amount: 1,
      currency: 'EUR',
    };
    const { approval } = await crm.drafted({ ...CREATE, params: { ...CREATE.params, ...lies } });
    const { params, target } = approval.packets[0].action;
    expect(target).toBe(`POST http://${crm.service.hostPort}/v1/contacts`);
    expect(params.definition).not.toBe(lies.definition);
    expect(params).not.toHaveProperty('amount');
  });

  it('that lacks something is approved once a person has supplied it', async () => {
    const packet = {
      ...call('create_contact', { name: 'Jane' }),
      needsInput: [{ path: 'params.arguments.email', message: 'What is email?' }],
    };
    const { approval, approvalId, directiveId } = await crm.drafted(packet);
    const refused = await crm.desk.approve(approvalId);
    expect(refused.body.error).toMatchObject({ code: 'INPUT_REQUIRED' });
    const [{ workPacketId, action }] = approval.packets;
    const bad = await crm.desk.edit(
      approvalId,
      { packets: [{ workPacketId, params: { ...action.params, arguments: { email: 'jane' } } }] },
      approval.contentHash,
    );
    expect(bad.status).toBe(422);
    expect(bad.body.error.details).toMatchObject([{ path: 'packets.0.params.arguments.email' }]);
    const edited = await crm.desk.edit(
      approvalId,
      {
        packets: [
          {
            workPacketId,
            params: { ...action.params, arguments: { email: 'jane@acme.example', credit: 12.5 } },
          },
        ],
      },
      approval.contentHash,
    );
    expect(edited.status, edited.text).toBe(200);
    expect(edited.body.packets[0].action).toMatchObject({
      target: `POST http://${crm.service.hostPort}/v1/contacts`,
      params: { amount: 12.5, currency: 'EUR' },
    });
    expect((await crm.desk.approve(approvalId)).status).toBe(200);
    await crm.packetOf(directiveId, 'executed');
    expect(JSON.parse(crm.service.received[0]!.body.toString())).toEqual({
      email: 'jane@acme.example',
      credit: 12.5,
    });
  });

  it('becomes as dangerous as the operation that a person puts there', async () => {
    const { approval, approvalId } = await crm.drafted(FIND);
    expect(approval.reversibility).toBe('read_only');
    const [{ workPacketId }] = approval.packets;
    const edited = await crm.desk.edit(
      approvalId,
      { packets: [{ workPacketId, params: CREATE.params }] },
      approval.contentHash,
    );
    expect(edited.body).toMatchObject({ reversibility: 'externally_reversible', risk: 'medium' });
  });
});

describe('a standing order', () => {
  it('lets calls of one operation go, within its budget, and asks for more', async () => {
    const orders = new OrderDesk(crm.test);
    const orderId = await orders.active({
      name: 'Small credits',
      effect: 'allow',
      match: { actionTypes: ['http.call'], fields: { 'params.operation': { $eq: 'create_contact' } } },
      budget: { window: 'day', amount: 100, currency: 'EUR', warnPercent: 80, onExceed: 'require_approval' },
    });
    const handIn = async (credit: number) => {
      const text = `Credit of ${credit}`;
      const args = { email: 'jane@acme.example', credit };
      crm.runner.answer(text, {
        packets: [draftPacket(call('create_contact', args))],
      });
      const answer = await crm.desk.client.post('/directives', {
        directive: text,
        capo: 'capo_ops',
        requiresApproval: false,
      });
      expect(answer.status, answer.text).toBe(201);
      return answer.body.directiveId as string;
    };
    await crm.packetOf(await handIn(60), 'executed');
    expect(crm.service.received).toHaveLength(1);
    const asked = await crm.packetOf(await handIn(60), 'pending_approval');
    expect(asked.decision).toMatchObject({ outcome: 'require_approval' });
    expect(crm.service.received).toHaveLength(1);
    expect((await crm.test.owner.delete(`/standing-orders/${orderId}`)).status).toBe(200);
  });

  it('lets what only reads go, is active at once and passes its eval, and asks for what changes something', async () => {
    const { client } = crm.desk;
    const order = await client.post('/standing-orders', {
      name: 'Look up',
      effect: 'allow',
      capos: ['capo_ops'],
      match: { actionTypes: ['http.call'], reversibility: ['read_only'] },
      expiresAt: Date.now() + 3_600_000,
    });
    expect(order.status, order.text).toBe(201);
    expect(order.body).toMatchObject({ status: 'active', heldBecause: null });
    const run = await client.get(`/evals/${order.body.evalRunId}`);
    expect(run.body).toMatchObject({ passed: true, findings: [] });
    const handIn = async (packet: typeof FIND) => {
      const text = `Do number ${Math.random()}`;
      crm.runner.answer(text, { packets: [draftPacket(packet)] });
      const body = { directive: text, capo: 'capo_ops', requiresApproval: false };
      return (await client.post('/directives', body)).body.directiveId as string;
    };
    const sent = await crm.packetOf(await handIn(FIND), 'executed');
    expect(sent.decision).toMatchObject({
      outcome: 'allow',
      matched: [{ standingOrderId: order.body.standingOrderId }],
    });
    const asked = await crm.packetOf(await handIn(CREATE), 'pending_approval');
    expect(asked.decision).toMatchObject({ outcome: 'require_approval', matched: [] });
    const path = `/standing-orders/${order.body.standingOrderId}`;
    expect((await crm.test.owner.delete(path)).status).toBe(200);
  });
});
