import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { call, ConnectorDesk, CREATE, created, SECRET } from './connector-desk.js';

let crm: ConnectorDesk;
beforeAll(async () => {
  crm = await ConnectorDesk.start();
});
afterAll(() => crm.close());
beforeEach(() => crm.answers(created));

describe('a call that a person approved', () => {
  it('sends exactly this, and keeps how it is undone', async () => {
    const { approval, approvalId, directiveId } = await crm.drafted(CREATE);
    expect(approval).toMatchObject({ reversibility: 'externally_reversible', risk: 'medium' });
    const [shown] = approval.packets;
    const url = `http://${crm.service.hostPort}/v1/contacts`;
    expect(shown.action).toEqual({
      type: 'http.call',
      target: `POST ${url}`,
      params: { ...CREATE.params, request: `POST ${url}`, definition: expect.stringMatching(/^[0-9a-f]{64}$/) },
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
  });
});
