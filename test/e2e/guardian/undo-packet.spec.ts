import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Compensations } from '../../../src/features/directives/packets/compensations.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { Client } from '../../support/client.js';
import { ScriptedRunner } from '../../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, expectUnbroken } from '../directives/desk.js';
import { carryOut, PACKETS } from './carried-out.js';

let test: TestApp;
let runner: ScriptedRunner;
/** What the undo outside does. */
let undoOutside: () => Promise<Record<string, unknown>>;
beforeAll(async () => {
  test = await startTestApp();
  runner = new ScriptedRunner(test);
  test.app.get(Compensations).declare('test.undo', () => ({
    kind: 'outside',
    repeatable: true,
    run: () => undoOutside(),
  }));
});
afterAll(() => test.close());

async function newDesk(): Promise<Desk & { workspaceId: string }> {
  const { workspaceId, owner } = await test.createWorkspace();
  return Object.assign(new Desk(test, owner.token), { workspaceId });
}

const undo = (client: Client, workPacketId: string, body: object = { reason: 'A wrong price list.' }) =>
  client.post(`/work-packets/${workPacketId}/undo`, body);
const revertOf = async (desk: Desk, revertId: string) =>
  (await desk.client.get(`/guardian/reverts/${revertId}`)).body;

async function receipts(workspaceId: string, action: string) {
  const rows = await test.rows<{ body: string }>(
    'select body from receipts where workspace_id = $1 and action = $2 order by seq',
    [workspaceId, action],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

describe('POST /work-packets/:id/undo 200', () => {
  it('undoes that packet alone, as a revert of one, while nothing is killed', async () => {
    const desk = await newDesk();
    const directiveId = await carryOut(desk, runner, [PACKETS.document, PACKETS.signal]);
    const [document, signal] = await desk.packets(directiveId);
    const packet = document.action.type === 'document.file' ? document : signal;
    const other = packet === document ? signal : document;

    const answer = await undo(desk.client, packet.workPacketId);
    expect(answer.status, answer.text).toBe(200);
    const { revertId, receiptId } = answer.body;
    expect(answer.body).toMatchObject({
      mode: 'compensate',
      status: 'done',
      planTotal: 1,
      plan: [{ workPacketId: packet.workPacketId, title: packet.title, status: 'done' }],
    });
    const statusOf = async (id: string) => (await desk.client.get(`/work-packets/${id}`)).body.status;
    expect(await statusOf(packet.workPacketId)).toBe('reverted');
    expect(await statusOf(other.workPacketId)).toBe('executed');
    expect((await desk.client.get('/documents')).body.total).toBe(0);
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'executed' });
    expect((await desk.client.get('/guardian')).body).toMatchObject({ mode: 'guardrailed', epoch: 0 });
    expect(await revertOf(desk, revertId)).toMatchObject({
      status: 'done',
      reason: 'A wrong price list.',
      counts: { done: 1, planned: 0 },
    });

    const [requested] = await receipts(desk.workspaceId, 'packet.undo_requested');
    expect(requested).toMatchObject({
      receiptId,
      entity: { type: 'work_packet', id: packet.workPacketId },
      details: { revertId, reason: 'A wrong price list.', undoes: packet.receiptId },
    });
    const [undone] = await receipts(desk.workspaceId, 'packet.reverted');
    expect(undone.details).toMatchObject({ revertId, undoes: packet.receiptId });
    expect((await desk.client.get('/audit-feed/verify')).body).toMatchObject({ ok: true, faults: [] });

    // With the last of its packets the directive is reverted.
    expect((await undo(desk.client, other.workPacketId)).status).toBe(200);
    const reverted = await desk.directive(directiveId);
    expect(reverted.status).toBe('reverted');
    expectUnbroken(reverted);
  });

  it('does what leaves the program as work, and once', async () => {
    const desk = await newDesk();
    const [packet] = await desk.packets(await carryOut(desk, runner, [PACKETS.document]));
    await test.rows(
      `update work_packets set compensation = '{"type": "test.undo", "params": {}}' where work_packet_id = $1`,
      [packet.workPacketId],
    );
    let calls = 0;
    const held = Promise.withResolvers<Record<string, unknown>>();
    undoOutside = () => {
      calls++;
      return held.promise;
    };
    const { body } = await undo(desk.client, packet.workPacketId);
    expect(body).toMatchObject({ status: 'running', plan: [{ status: 'planned' }] });
    expect(await revertOf(desk, body.revertId)).toMatchObject({ status: 'running', endedAt: null });
    const again = await undo(desk.client, packet.workPacketId);
    expect(again.body.error).toMatchObject({
      code: 'INVALID_TRANSITION',
      message: 'This work packet is being undone already.',
    });
    held.resolve({ undone: true });
    await eventually(
      () => revertOf(desk, body.revertId),
      ({ status }) => status === 'done',
    );
    expect((await desk.client.get(`/work-packets/${packet.workPacketId}`)).body.status).toBe('reverted');
    expect(calls).toBe(1);
  });

  it('takes an admin, of the team whose packet it is', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const teamId = await test.createTeam(workspaceId, 'Sales');
    const desk = new Desk(test, owner.token);
    const text = `Do as agreed ${newId('req')}`;
    runner.answer(text, { packets: [PACKETS.document] });
    const { directiveId, approvalId } = await desk.handIn({ text, capo: 'capo_ops', teamId });
    await desk.ready(approvalId);
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    const [{ workPacketId }] = await desk.packets(directiveId);
    const operator = await test.createMember(workspaceId, 'operator', [teamId]);
    expect((await undo(operator, workPacketId)).status).toBe(403);
    const stranger = await test.createMember(workspaceId, 'operator');
    expect((await undo(stranger, workPacketId)).status).not.toBe(200);
    expect((await undo((await test.createWorkspace()).owner, workPacketId)).status).toBe(404);
    const admin = await test.createMember(workspaceId, 'admin');
    expect((await undo(admin, workPacketId)).status).toBe(200);
  });
});

describe('POST /work-packets/:id/undo refuses', () => {
  it('what cannot be undone, with the reason, and changes nothing', async () => {
    const desk = await newDesk();
    const refusal = async (workPacketId: string) => {
      const { status, body } = await undo(desk.client, workPacketId);
      expect(body.error).toMatchObject({ code: 'INVALID_TRANSITION' });
      expect(status).toBe(409);
      return body.error.message as string;
    };
    const [mail] = await desk.packets(await carryOut(desk, runner, [PACKETS.mail]));
    expect(await refusal(mail.workPacketId)).toBe('Nothing takes this work packet back.');

    const text = `Handed on ${newId('req')}`;
    runner.answer(text, { packets: [PACKETS.mail] });
    const parent = await carryOut(desk, runner, [PACKETS.delegation(text)], { capo: 'ceo' });
    const [delegation] = await desk.packets(parent);
    const child = delegation.result.directiveId;
    const { approvalId } = await desk.directive(child);
    await desk.ready(approvalId);
    await desk.approve(approvalId);
    await desk.until(child, 'executed');
    const { seq } = (await desk.client.get('/audit-feed/head')).body;
    expect(await refusal(delegation.workPacketId)).toContain('could not be undone');
    expect((await desk.client.get('/audit-feed/head')).body.seq).toBe(seq);
    expect(await test.rows('select 1 from reverts where workspace_id = $1', [desk.workspaceId])).toEqual([]);

    const [document] = await desk.packets(await carryOut(desk, runner, [PACKETS.document]));
    const answers = await Promise.all([1, 2].map(() => undo(desk.client, document.workPacketId)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await refusal(document.workPacketId)).toBe(
      'The work packet is reverted, so there is nothing to undo.',
    );
    expect(await receipts(desk.workspaceId, 'document.withdrawn')).toHaveLength(1);
  });

  it('a killed workspace with 423, no reason with 422, and no packet with 404', async () => {
    const desk = await newDesk();
    const [{ workPacketId }] = await desk.packets(await carryOut(desk, runner, [PACKETS.document]));
    expect((await undo(desk.client, workPacketId, {})).status).toBe(422);
    expect((await undo(desk.client, newId('pkt'))).status).toBe(404);
    expect((await undo(desk.client, 'nonsense')).status).toBe(404);
    await desk.kill();
    expect((await undo(desk.client, workPacketId)).status).toBe(423);
    await desk.revert();
    expect((await undo(desk.client, workPacketId)).status).toBe(200);
  });
});
