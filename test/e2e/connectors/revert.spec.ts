import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/test-app.js';
import { call, ConnectorDesk, CREATE, created } from './connector-desk.js';

let crm: ConnectorDesk;
beforeAll(async () => {
  crm = await ConnectorDesk.start();
});
afterAll(() => crm.close());
beforeEach(() => crm.answers(created));

const TAG = call('tag_contact', { id: 'c_42', tag: 'vip' });

/** Kills and compensates what was carried out since the checkpoint; answers the revert once it has ended. */
async function compensated(checkpointId: string) {
  expect((await crm.desk.kill()).status).toBe(200);
  const asked = await crm.desk.client.post('/guardian/revert', { mode: 'compensate', checkpointId });
  expect(asked.status, asked.text).toBe(200);
  return eventually(
    async () => (await crm.desk.client.get(`/guardian/reverts/${asked.body.revertId}`)).body,
    ({ status }) => status === 'done',
    30,
  );
}

const checkpoint = async () =>
  (await crm.desk.client.post('/guardian/checkpoint')).body.checkpointId as string;

describe('a revert that compensates', () => {
  it('undoes calls by what the file declares, the newest first, each once', async () => {
    const checkpointId = await checkpoint();
    const create = await crm.approved(CREATE);
    await crm.packetOf(create.directiveId, 'executed');
    const tag = await crm.approved(TAG);
    await crm.packetOf(tag.directiveId, 'executed');
    crm.answers((_received, response) => {
      response.statusCode = 204;
      response.end();
    });
    const { steps } = await compensated(checkpointId);
    expect(steps.items).toMatchObject([
      { workPacketId: tag.workPacketId, status: 'done' },
      { workPacketId: create.workPacketId, status: 'done' },
    ]);
    expect(crm.service.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'DELETE /v1/contacts/c_42/tags/vip',
      'DELETE /v1/contacts/c_42',
    ]);
    const [packet] = await crm.desk.packets(create.directiveId);
    expect(packet).toMatchObject({ status: 'reverted' });
  });

  it('says what it cannot undo, and why', async () => {
    const checkpointId = await checkpoint();
    crm.answers((_received, response) => response.end('{}'));
    const { directiveId, workPacketId } = await crm.approved(CREATE);
    await crm.packetOf(directiveId, 'executed');
    crm.answers(created);
    const { steps } = await compensated(checkpointId);
    expect(steps.items).toMatchObject([{ workPacketId, status: 'failed' }]);
    expect(JSON.stringify(steps)).toContain('lacked response.contact.id');
    expect(crm.service.received).toEqual([]);
  });
});
