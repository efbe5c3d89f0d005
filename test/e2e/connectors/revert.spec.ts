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

/** The plan of a revert that is not made. */
async function planned(checkpointId: string) {
  const body = { mode: 'compensate', checkpointId, dryRun: true };
  const answer = await crm.desk.client.post('/guardian/revert', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.plan;
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

  it('undoes by exactly the id that was answered as a number', async () => {
    const checkpointId = await checkpoint();
    crm.answers((_received, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end('{"contact":{"id":9007199254740993}}');
    });
    const { directiveId, workPacketId } = await crm.approved(CREATE);
    const packet = await crm.packetOf(directiveId, 'executed');
    expect(packet.compensation.params).toMatchObject({ arguments: { id: '9007199254740993' } });
    crm.answers(created);
    const { steps } = await compensated(checkpointId);
    expect(steps.items).toMatchObject([{ workPacketId, status: 'done' }]);
    expect(crm.service.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'DELETE /v1/contacts/9007199254740993',
    ]);
  });

  it('says at once that what was answered cannot be undone, and calls nothing', async () => {
    const checkpointId = await checkpoint();
    crm.answers((_received, response) => response.end('{"contact":{"id":".."}}'));
    const { directiveId, workPacketId } = await crm.approved(CREATE);
    const packet = await crm.packetOf(directiveId, 'executed');
    const reason =
      'response.contact.id cannot be its id: stands in a path, so it must not be empty, "." or ".."';
    expect(packet.compensation.params).toMatchObject({ operation: 'delete_contact', unusable: reason });
    expect(packet.compensation.params).not.toHaveProperty('arguments');
    crm.answers(created);
    const message = `The call cannot be undone by delete_contact of crm: ${reason}.`;
    expect(await planned(checkpointId)).toMatchObject([{ workPacketId, status: 'failed', reason: message }]);
    const { steps } = await compensated(checkpointId);
    expect(steps.items).toMatchObject([{ workPacketId, status: 'failed' }]);
    expect(steps.items[0].reason).toContain(reason);
    expect(crm.service.received).toEqual([]);
  });

  it('plans to undo what can be undone, and what is still being carried out', async () => {
    const checkpointId = await checkpoint();
    const tag = await crm.approved(TAG);
    await crm.packetOf(tag.directiveId, 'executed');
    let answerNow: (() => void) | undefined;
    crm.answers((received, response, count) => {
      answerNow = () => created(received, response, count);
    });
    const create = await crm.approved(CREATE);
    await eventually(
      () => Promise.resolve(answerNow),
      (isAsked) => isAsked !== undefined,
    );
    expect(await planned(checkpointId)).toMatchObject([
      { workPacketId: create.workPacketId, status: 'planned', reason: null },
      { workPacketId: tag.workPacketId, status: 'planned', reason: null },
    ]);
    answerNow!();
    await crm.packetOf(create.directiveId, 'executed');
  });

  it('says what it cannot undo, and why', async () => {
    const checkpointId = await checkpoint();
    crm.answers((_received, response) => response.end('{}'));
    const { directiveId, workPacketId } = await crm.approved(CREATE);
    await crm.packetOf(directiveId, 'executed');
    crm.answers(created);
    const [line] = await planned(checkpointId);
    expect(line).toMatchObject({ workPacketId, status: 'failed' });
    expect(line.reason).toContain('its answer lacked response.contact.id');
    const { steps } = await compensated(checkpointId);
    expect(steps.items).toMatchObject([{ workPacketId, status: 'failed' }]);
    expect(JSON.stringify(steps)).toContain('lacked response.contact.id');
    expect(crm.service.received).toEqual([]);
  });
});
