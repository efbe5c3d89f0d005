import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DraftContent } from '../../../src/features/capos/briefing.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { draftPacket, MAIL_TO_JANE, ScriptedRunner } from '../../support/scripted-runner.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, expectUnbroken } from '../directives/desk.js';

let test: TestApp;
let desk: Desk;
let runner: ScriptedRunner;
beforeAll(async () => {
  test = await startTestApp();
  desk = new Desk(test);
  runner = new ScriptedRunner(test);
});
afterAll(() => test.close());

const NEW_MAIL = {
  to: ['jane@acme.example', 'joe@acme.example'],
  subject: 'Your delivery, order 17',
  body: 'Dear Jane, dear Joe,\n\nes kommt am Donnerstag. 🚚\n\n.\nYours,\nSam',
};
const MEMO = draftPacket({
  type: 'document.file',
  params: { title: 'Delays', body: 'Two of nine deliveries were late.' },
});
const NOTE = { type: 'document.file', params: { title: 'Note', body: 'Jane was told.' } };
const WORD_IT = { path: 'params.body', message: 'Word the message: the directive only describes it.' };
const WHO = { path: 'params.to', message: 'To whom?' };
const UNFINISHED = draftPacket({
  type: 'email.send',
  params: { to: [], subject: 'Thank you', body: 'a thank-you note' },
  needsInput: [WHO, WORD_IT],
});

const DEADLINE = new Date(Date.now() + 86_400_000).toISOString();
let named = 0;
/** A ready approval of this draft. */
async function ready(
  draft: Partial<DraftContent> = { packets: [MAIL_TO_JANE] },
  of = desk,
  more: object = {},
) {
  const text = `Directive ${++named}`;
  runner.answer(text, draft);
  const { directiveId, approvalId, approval } = await of.handInReady({ text, capo: 'capo_ops', ...more });
  const packetIds = approval.packets.map(({ workPacketId }: { workPacketId: string }) => workPacketId);
  return { directiveId, approvalId, approval, hash: approval.contentHash as string, packetIds };
}

async function sentMail(workPacketId: string) {
  const bytes = await readFile(join(test.dataDir, 'outbox', `${workPacketId}.eml`));
  return { bytes, mail: await PostalMime.parse(bytes) };
}

const receiptsOf = (approvalId: string, action: string) =>
  test.rows<{ body: string }>(`select body from receipts where action = $2 and entity_id = $1 order by seq`, [
    approvalId,
    action,
  ]);

/** What an edit must not change when it is refused. */
const stateOf = async (approvalId: string, directiveId: string) => ({
  approval: await desk.approval(approvalId),
  packets: await desk.packets(directiveId),
  directive: await desk.directive(directiveId),
  receipts: await test.rows('select count(*) from receipts where directive_id = $1', [directiveId]),
});

async function expectRefused(
  { approvalId, directiveId, hash }: { approvalId: string; directiveId: string; hash: string },
  body: object,
  status: number,
  code: string,
) {
  const before = await stateOf(approvalId, directiveId);
  const answer = await desk.edit(approvalId, body, hash);
  expect(answer.status, answer.text).toBe(status);
  expect(answer.body.error.code).toBe(code);
  expect(await stateOf(approvalId, directiveId)).toEqual(before);
  return answer.body.error;
}

describe('200', () => {
  it('what was edited is what is sent, byte for byte', async () => {
    const { directiveId, approvalId, hash, packetIds } = await ready();
    const edited = await desk.edit(
      approvalId,
      { packets: [{ workPacketId: packetIds[0], params: NEW_MAIL }] },
      hash,
    );
    expect(edited.status, edited.text).toBe(200);
    expect(edited.body).toEqual(await desk.approval(approvalId));
    expect(edited.body).toMatchObject({
      status: 'pending',
      ready: true,
      summary: 'A mail to jane@acme.example, joe@acme.example: “Your delivery, order 17”.',
      packets: [
        {
          workPacketId: packetIds[0],
          title: 'Mail to jane@acme.example, joe@acme.example: Your delivery, order 17',
          action: { type: 'email.send', target: 'jane@acme.example, joe@acme.example', params: NEW_MAIL },
        },
      ],
    });
    expect(edited.body.output.body).toContain(NEW_MAIL.body);
    expect(edited.body.contentHash).not.toBe(hash);
    expect((await desk.packets(directiveId))[0]).toMatchObject({ action: { params: NEW_MAIL } });
    expect((await desk.directive(directiveId)).output).toEqual(edited.body.output);

    expect((await desk.approve(approvalId, { 'If-Match': hash })).status).toBe(412);
    expect((await desk.approve(approvalId, { 'If-Match': edited.body.contentHash })).status).toBe(200);
    expectUnbroken(await desk.until(directiveId, 'executed'));
    const { mail } = await sentMail(packetIds[0]);
    expect(mail.to!.map(({ address }) => address)).toEqual(NEW_MAIL.to);
    expect(mail.subject).toBe(NEW_MAIL.subject);
    expect(mail.text!.replace(/\n$/, '')).toBe(NEW_MAIL.body);
  });

  it('keeps each revision, and says who wrote what', async () => {
    runner.asModel('test-model');
    const { approvalId, hash, packetIds, approval } = await ready();
    expect(approval.revisions).toEqual([
      {
        n: 1,
        author: 'model',
        by: expect.objectContaining({ type: 'capo', id: 'capo_ops' }),
        at: expect.any(Number),
        contentHash: hash,
        changes: [],
      },
    ]);
    expect(approval.packets[0]).toMatchObject({ writtenBy: 'model', edits: [], needsInput: [] });

    const { to, subject } = MAIL_TO_JANE.params;
    const params = { to, subject, body: 'Hello Jane, on Thursday.' };
    const first = (await desk.edit(approvalId, { packets: [{ workPacketId: packetIds[0], params }] }, hash))
      .body;
    const second = (await desk.edit(approvalId, { add: [{ action: NOTE }] }, first.contentHash)).body;
    const added = second.packets[1].workPacketId;
    const third = (await desk.edit(approvalId, { remove: [packetIds[0]] }, second.contentHash)).body;
    expect(third.revisions.map(({ n, author, contentHash }: any) => [n, author, contentHash])).toEqual([
      [1, 'model', hash],
      [2, 'person', first.contentHash],
      [3, 'person', second.contentHash],
      [4, 'person', third.contentHash],
    ]);
    expect(third.revisions.map(({ changes }: any) => changes)).toEqual([
      [],
      [
        {
          workPacketId: packetIds[0],
          change: 'edited',
          paths: ['params.body'],
          before: { 'params.body': MAIL_TO_JANE.params['body'] },
        },
      ],
      [{ workPacketId: added, change: 'added', paths: [], before: {} }],
      [{ workPacketId: packetIds[0], change: 'removed', paths: [], before: {} }],
    ]);
    const who = expect.objectContaining({ type: 'member', via: 'api' });
    expect(second.packets).toMatchObject([
      { writtenBy: 'model', edits: [{ path: 'params.body', by: who, at: expect.any(Number) }] },
      { writtenBy: 'person', edits: [], rationale: expect.stringMatching(/^Added by /) },
    ]);
    const receipts = (await receiptsOf(approvalId, 'approval.edited')).map(({ body }) => JSON.parse(body));
    const requesterIds = [receipts[0].actor.id];
    expect(receipts.map(({ details }) => details)).toEqual([
      {
        before: hash,
        contentHash: first.contentHash,
        revision: 2,
        packets: 1,
        requesterIds,
        changes: [{ workPacketId: packetIds[0], change: 'edited', paths: ['params.body'] }],
        decisions: [expect.objectContaining({ workPacketId: packetIds[0], outcome: 'require_approval' })],
      },
      {
        before: first.contentHash,
        contentHash: second.contentHash,
        revision: 3,
        packets: 2,
        requesterIds,
        changes: [{ workPacketId: added, change: 'added', paths: [] }],
        decisions: [expect.objectContaining({ workPacketId: added, outcome: 'require_approval' })],
      },
      {
        before: second.contentHash,
        contentHash: third.contentHash,
        revision: 4,
        packets: 1,
        requesterIds,
        changes: [{ workPacketId: packetIds[0], change: 'removed', paths: [] }],
        decisions: [],
      },
    ]);
    expect(JSON.stringify(receipts)).not.toContain('Thursday');
  });

  it('sends what was added and not what was removed, each in the scope of its capo', async () => {
    const { directiveId, approvalId, hash, packetIds } = await ready();
    const add = [{ action: { type: 'email.send', params: NEW_MAIL, title: 'To both of them' } }];
    const { body } = await desk.edit(approvalId, { add, remove: packetIds }, hash);
    expect(body.packets).toMatchObject([{ title: 'To both of them', reversibility: 'irreversible' }]);
    await desk.approve(approvalId);
    const directive = await desk.until(directiveId, 'executed');
    expect(directive.workPacketIds).toEqual([packetIds[0], body.packets[0].workPacketId]);
    expect((await desk.packets(directiveId)).map(({ status }) => status)).toEqual(['executed', 'cancelled']);
    expect(await readdir(join(test.dataDir, 'outbox'))).not.toContain(`${packetIds[0]}.eml`);
    expect((await sentMail(body.packets[0].workPacketId)).mail.subject).toBe(NEW_MAIL.subject);
  });

  it('rates what is sent anew, and why a person is asked', async () => {
    const { approvalId, hash, packetIds } = await ready({
      packets: [MEMO],
      concerns: [{ risk: 'high', reason: 'It was asked to delete something.' }],
    });
    const before = await desk.approval(approvalId);
    expect(before).toMatchObject({
      risk: 'high',
      urgent: true,
      riskReasons: ['It was asked to delete something.'],
      reversibility: 'reversible',
    });
    const to = Array.from({ length: 60 }, (_, index) => `buyer${index}@acme.example`);
    const add = [{ action: { type: 'email.send', params: { ...NEW_MAIL, to } } }];
    const { body } = await desk.edit(approvalId, { add }, hash);
    const stale = "In the capo's draft: It was asked to delete something.";
    expect(body).toMatchObject({
      risk: 'critical',
      reversibility: 'irreversible',
      riskReasons: [stale],
      policy: { explanation: expect.arrayContaining([stale]) },
      expiresAt: before.expiresAt,
    });
    const less = await desk.edit(approvalId, { remove: [body.packets[1].workPacketId] }, body.contentHash);
    expect(less.body).toMatchObject({ risk: 'high', reversibility: 'reversible', contentHash: hash });
    expect(less.body.packets.map(({ workPacketId }: any) => workPacketId)).toEqual(packetIds);
  });

  it('says as critical that what was written cannot be seen, until it is gone', async () => {
    const { approvalId, hash, packetIds } = await ready();
    const reason = 'The text contains characters that cannot be seen.';
    const write = (body: string, ifMatch: string) =>
      desk.edit(
        approvalId,
        { packets: [{ workPacketId: packetIds[0], params: { ...NEW_MAIL, body } }] },
        ifMatch,
      );
    const hidden = await write('Dear Jane,\n\nit leaves \u{e0070}\u{e0061}\u{e0079}today.', hash);
    expect(hidden.body).toMatchObject({
      risk: 'critical',
      urgent: true,
      riskReasons: [reason],
      policy: { explanation: expect.arrayContaining([reason]) },
    });
    expect(await desk.approval(approvalId)).toMatchObject({ risk: 'critical', riskReasons: [reason] });
    const turned = await write('invoice\u202efdp.exe', hidden.body.contentHash);
    expect(turned.body).toMatchObject({ risk: 'critical', riskReasons: [reason] });
    const seen = await write('Dear Jane 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿, می‌خواهم', turned.body.contentHash);
    expect(seen.body).toMatchObject({ risk: 'medium', riskReasons: [] });
    expect(seen.body.policy.explanation).not.toContain(reason);
  });

  it('the text of a draft that is a single document is the text of that document', async () => {
    const { directiveId, approvalId, approval, hash } = await ready({ packets: [MEMO] });
    const same = await desk.edit(approvalId, { output: { body: approval.output.body } }, hash);
    expect(same.body).toMatchObject({ contentHash: hash, revisions: [{ n: 1 }] });
    const edited = await desk.edit(
      approvalId,
      { output: { body: '# Late again\n\nThree were late.\n' } },
      hash,
    );
    expect(edited.body.packets[0].action.params).toEqual({ title: 'Late again', body: 'Three were late.\n' });
    const again = await desk.edit(approvalId, { output: { body: 'Four were.' } }, edited.body.contentHash);
    expect(again.body.output.body).toBe('# Late again\n\nFour were.');
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    const [document] = await test.rows('select title, body from documents where directive_id = $1', [
      directiveId,
    ]);
    expect(document).toEqual({ title: 'Late again', body: 'Four were.' });
  });

  it('an edit that changes nothing is no revision', async () => {
    const { approvalId, approval, hash, packetIds } = await ready();
    const { params } = approval.packets[0].action;
    const answer = await desk.edit(approvalId, { packets: [{ workPacketId: packetIds[0], params }] }, hash);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(approval);
    expect(await receiptsOf(approvalId, 'approval.edited')).toEqual([]);
  });

  it('with the same Idempotency-Key it is done once', async () => {
    const { approvalId, hash } = await ready();
    const key = { 'Idempotency-Key': `edit-${approvalId}` };
    const add = [{ action: NOTE }];
    const [first, second] = [
      await desk.edit(approvalId, { add }, hash, key),
      await desk.edit(approvalId, { add }, hash, key),
    ];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.body).toEqual(first.body);
    expect((await desk.approval(approvalId)).packets).toHaveLength(2);
    const other = await desk.edit(approvalId, { add: [...add, ...add] }, hash, key);
    expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('is asked of the policy again: what asks for a second person asks for it from now on', async () => {
    const { owner, workspaceId } = await test.createWorkspace();
    const own = new Desk(test, owner.token);
    const { approvalId, hash } = await ready({ packets: [MEMO] }, own);
    const { body: order } = await own.client.post('/standing-orders', {
      name: 'Two people for mail',
      effect: 'require_approval',
      match: { actionTypes: ['email.send'] },
      approval: { expiresInMinutes: 60, onExpiry: 'escalate', selfApproval: false },
    });
    await activate(own, order.standingOrderId);
    const editor = new Desk(test, (await test.createMember(workspaceId, 'operator')).token);
    const add = [{ action: { type: 'email.send', params: NEW_MAIL } }];
    const { body } = await editor.edit(approvalId, { add }, hash);
    expect(body).toMatchObject({ onExpiry: 'escalate', policy: { outcome: 'require_approval' } });
    expect(body.expiresAt).toBeLessThan(Date.now() + 3_700_000);

    // Neither who asked nor who wrote it is the second pair of eyes.
    const read = { 'If-Match': body.contentHash };
    expect((await own.approve(approvalId, read)).status).toBe(403);
    const refused = await editor.approve(approvalId);
    expect(refused.status).toBe(403);
    expect(refused.body.error.message).toContain('edited it');
    const third = new Desk(test, (await test.createMember(workspaceId, 'operator')).token);
    expect((await third.approve(approvalId, read)).status).toBe(200);
  });

  it('who edited a delegation has asked for what is delegated', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const own = new Desk(test, owner.token);
    const delegation = draftPacket({
      type: 'directive.create',
      params: { directive: 'Tell Jane.', capo: 'capo_ops' },
    });
    const { directiveId, approvalId, hash, packetIds } = await ready({ packets: [delegation] }, own, {
      capo: 'ceo',
      deadline: DEADLINE,
    });
    const editor = await test.createMember(workspaceId, 'operator');
    const params = { directive: 'Tell Jane and Joe.', capo: 'capo_ops' };
    const edited = await new Desk(test, editor.token).edit(
      approvalId,
      { packets: [{ workPacketId: packetIds[0], params }] },
      hash,
    );
    expect((await own.approve(approvalId, { 'If-Match': edited.body.contentHash })).status).toBe(200);
    await own.until(directiveId, 'executed');
    const [child] = await test.rows<{ requester_ids: string[]; deadline: number }>(
      `select requester_ids, deadline from directives where context->>'delegatedFrom' = $1`,
      [directiveId],
    );
    expect(child!.requester_ids).toContain(editor.memberId);
    // What is handed on is wanted until the same time.
    expect(new Date(child!.deadline).toISOString()).toBe(DEADLINE);
  });
});

/** Simulates and activates an order, acknowledging whatever it relaxes. */
async function activate(who: Desk, standingOrderId: string): Promise<void> {
  await who.client.post(`/standing-orders/${standingOrderId}/simulate`);
  const answer = await who.client.post(`/standing-orders/${standingOrderId}/activate`, {
    acknowledge: true,
    version: 1,
  });
  expect(answer.status, answer.text).toBe(200);
}

describe('what a draft lacks', () => {
  it('is asked for: approving is 409 INPUT_REQUIRED until an edit supplies it', async () => {
    const { directiveId, approvalId, hash, packetIds, approval } = await ready({
      packets: [MEMO, UNFINISHED],
    });
    expect(approval).toMatchObject({
      inputsNeeded: 2,
      waitingFor: { reason: 'input' },
      summary: expect.stringContaining('A mail to (nobody yet): “Thank you”.'),
      packets: [{ needsInput: [] }, { needsInput: [WHO, WORD_IT], action: { target: null } }],
    });
    const [, packet] = await desk.packets(directiveId);
    expect(packet).toMatchObject({ needsInput: [WHO, WORD_IT], status: 'awaiting_approval' });

    const refused = await desk.approve(approvalId);
    expect(refused.status).toBe(409);
    const details = [WHO, WORD_IT].map(({ path, message }) => ({
      path: `packets.1.${path}`,
      rule: 'needsInput',
      message,
      workPacketId: packetIds[1],
    }));
    expect(refused.body.error).toMatchObject({ code: 'INPUT_REQUIRED', details });
    const together = await desk.client.post('/approvals', {
      decisions: [{ approvalId, decision: 'approve' }],
    });
    expect(together.body.results).toEqual([
      { approvalId, error: { code: 'INPUT_REQUIRED', status: 409, message: expect.any(String), details } },
    ]);

    // One at a time: what was left as it was is still lacking.
    const { subject } = UNFINISHED.params;
    const edit = (params: object, contentHash: string) =>
      desk.edit(approvalId, { packets: [{ workPacketId: packetIds[1], params }] }, contentHash);
    const half = await edit({ to: [], subject, body: 'Thank you, Jane!' }, hash);
    expect(half.body).toMatchObject({ inputsNeeded: 1, packets: [{}, { needsInput: [WHO] }] });
    expect((await desk.approve(approvalId)).body.error.details).toEqual([details[0]]);
    const whole = await edit(
      { to: ['jane@acme.example'], subject, body: 'Thank you, Jane!' },
      half.body.contentHash,
    );
    expect(whole.body).toMatchObject({ inputsNeeded: 0, waitingFor: { reason: 'decision' } });
    expect((await desk.approve(approvalId)).status).toBe(200);
    await desk.until(directiveId, 'executed');
    expect((await sentMail(packetIds[1])).mail.text!.trim()).toBe('Thank you, Jane!');
  });

  describe('a placeholder', () => {
    const NAME = { path: 'params.body', message: 'Replace “[Name]” with what belongs there.' };
    const GREETING = { ...MAIL_TO_JANE.params, body: 'Dear [Name], your price is 10.' };
    const HALF = draftPacket({ type: 'email.send', params: GREETING, needsInput: [NAME] });

    it('is still lacking after an edit of something else beside it', async () => {
      const { directiveId, approvalId, hash, packetIds } = await ready({ packets: [HALF] });
      const edit = (body: string, contentHash: string) =>
        desk.edit(
          approvalId,
          { packets: [{ workPacketId: packetIds[0], params: { ...GREETING, body } }] },
          contentHash,
        );
      const half = await edit('Dear [Name], your price is 12.', hash);
      expect(half.body, half.text).toMatchObject({ inputsNeeded: 1, packets: [{ needsInput: [NAME] }] });
      expect((await desk.packets(directiveId))[0]).toMatchObject({ needsInput: [NAME] });
      expect((await desk.approve(approvalId)).body.error.code).toBe('INPUT_REQUIRED');
      const whole = await edit('Dear Jane, your price is 12.', half.body.contentHash);
      expect(whole.body).toMatchObject({ inputsNeeded: 0, waitingFor: { reason: 'decision' } });
    });

    it('is none where the directive itself has it', async () => {
      const { approvalId, hash, packetIds } = await ready({ packets: [HALF] }, desk, {
        context: { wording: 'Write it as [Sam] says.' },
      });
      const params = { ...GREETING, body: 'Dear Jane, it goes as [Sam] says.' };
      const { body } = await desk.edit(
        approvalId,
        { packets: [{ workPacketId: packetIds[0], params }] },
        hash,
      );
      expect(body).toMatchObject({ inputsNeeded: 0 });
    });

    it('is confirmed as it stands by a person who says so, once', async () => {
      const { directiveId, approvalId, hash, packetIds } = await ready({ packets: [HALF] });
      const packets = [{ workPacketId: packetIds[0], params: GREETING, confirm: ['params.body'] }];
      const confirmed = await desk.edit(approvalId, { packets }, hash);
      expect(confirmed.body, confirmed.text).toMatchObject({
        inputsNeeded: 0,
        // The same content: whoever has read it has read what is approved.
        contentHash: hash,
        packets: [{ needsInput: [], edits: [{ path: 'params.body', by: { type: 'member' } }] }],
        revisions: [
          { n: 1 },
          {
            n: 2,
            author: 'person',
            changes: [{ change: 'edited', paths: ['params.body'], before: { 'params.body': GREETING.body } }],
          },
        ],
      });
      expect(await receiptsOf(approvalId, 'approval.edited')).toHaveLength(1);
      // Confirmed again, nothing is left to confirm.
      expect((await desk.edit(approvalId, { packets }, hash)).body).toEqual(confirmed.body);
      expect((await desk.approve(approvalId)).status).toBe(200);
      await desk.until(directiveId, 'executed');
      expect((await sentMail(packetIds[0])).mail.text!.trim()).toBe(GREETING.body);
    });

    it('is confirmed without saying again what stands there', async () => {
      const { approvalId, hash, packetIds } = await ready({ packets: [HALF] });
      const refused = await desk.approve(approvalId);
      expect(refused.body.error.message).toContain('"confirm": ["params.body"]');
      const neither = await desk.edit(approvalId, { packets: [{ workPacketId: packetIds[0] }] }, hash);
      expect(neither.status).toBe(422);
      expect(neither.body.error.details).toMatchObject([{ path: 'packets.0.params' }]);
      const packets = [{ workPacketId: packetIds[0], confirm: ['params.body'] }];
      const confirmed = await desk.edit(approvalId, { packets }, hash);
      expect(confirmed.body, confirmed.text).toMatchObject({ inputsNeeded: 0, contentHash: hash });
      expect(confirmed.body.packets[0].action.params).toEqual(GREETING);
    });

    it('is not confirmed where nothing stands, nor at what is no parameter', async () => {
      const { packetIds, ...one } = await ready({ packets: [UNFINISHED] });
      const confirm = ['params.to', 'params.bodies', 'body'];
      const { details } = await expectRefused(
        one,
        { packets: [{ workPacketId: packetIds[0], params: UNFINISHED.params, confirm }] },
        422,
        'VALIDATION_FAILED',
      );
      expect(details).toMatchObject([
        { path: 'packets.0.confirm.1', rule: 'known' },
        { path: 'packets.0.confirm.2', rule: 'known' },
        { path: 'packets.0.params.to' },
      ]);
    });
  });

  it('is not supplied by the text that stands in its stead in the draft', async () => {
    const unwritten = draftPacket({
      type: 'document.file',
      params: { title: 'Plan', body: '' },
      needsInput: [WORD_IT],
    });
    const { approval, ...one } = await ready({ packets: [unwritten] });
    expect(approval.output.body).toBe('# Plan\n\n(no text yet)');
    const { details } = await expectRefused(
      one,
      { output: { body: approval.output.body } },
      422,
      'VALIDATION_FAILED',
    );
    expect(details).toMatchObject([{ path: 'output.body', rule: 'singleDocument' }]);
  });

  it('is not supplied by what is wrong', async () => {
    const { packetIds, ...one } = await ready({ packets: [UNFINISHED] });
    const params = { ...UNFINISHED.params, to: ['Jane'] };
    const error = await expectRefused(
      one,
      { packets: [{ workPacketId: packetIds[0], params }] },
      422,
      'VALIDATION_FAILED',
    );
    expect(error.details).toMatchObject([{ path: 'packets.0.params.to.0' }]);
  });

  it('can be rejected, sent back and cancelled', async () => {
    const [one, two, three] = [
      await ready({ packets: [UNFINISHED] }),
      await ready({ packets: [UNFINISHED] }),
      await ready({ packets: [UNFINISHED] }),
    ];
    expect((await desk.reject(one.approvalId)).status).toBe(200);
    expect((await desk.reject(two.approvalId, { feedback: 'To Jane.', revise: true })).status).toBe(200);
    expect((await desk.client.post(`/directives/${three.directiveId}/cancel`)).status).toBe(200);
  });

  it('keeps it from leaving by standing orders alone, and so does a concern', async () => {
    const { owner } = await test.createWorkspace();
    const own = new Desk(test, owner.token);
    const { body: order } = await own.client.post('/standing-orders', {
      name: 'Everything',
      effect: 'allow',
      match: { actionTypes: ['email.send', 'document.file'] },
    });
    await activate(own, order.standingOrderId);
    for (const [text, draft, why] of [
      ['lacking', { packets: [UNFINISHED] }, 'lacks something'],
      [
        'worrying',
        { packets: [MEMO], concerns: [{ risk: 'critical', reason: 'An invented sum.' }] },
        'invented',
      ],
    ] as const) {
      runner.answer(text, draft as never);
      const { body } = await own.client.post('/directives', {
        directive: text,
        capo: 'capo_ops',
        requiresApproval: false,
      });
      const { approvalId } = await own.until(body.directiveId, 'pending_approval');
      const { policy } = await own.ready(approvalId);
      expect(policy).toMatchObject({ outcome: 'require_approval' });
      expect(policy.explanation[0]).toContain(why);
    }
    runner.answer('plain', { packets: [MEMO] });
    const { body } = await own.client.post('/directives', {
      directive: 'plain',
      capo: 'capo_ops',
      requiresApproval: false,
    });
    await own.until(body.directiveId, 'executed');
  });

  it('is checked again where it leaves', async () => {
    const { directiveId, approvalId, packetIds } = await ready();
    await test.rows(`update work_packets set needs_input = $2 where work_packet_id = $1`, [
      packetIds[0],
      JSON.stringify([WORD_IT]),
    ]);
    await desk.approve(approvalId);
    await desk.until(directiveId, 'failed');
    const [packet] = await desk.packets(directiveId);
    expect(packet.result.error.code).toBe('INPUT_REQUIRED');
    expect(await readdir(join(test.dataDir, 'outbox'))).not.toContain(`${packetIds[0]}.eml`);
  });

  it.each([
    ['a fault elsewhere', draftPacket({ ...UNFINISHED, params: { ...UNFINISHED.params, subject: '' } })],
    ['something wrong there', draftPacket({ ...UNFINISHED, params: { ...UNFINISHED.params, to: ['x'] } })],
    [
      'a parameter that does not exist',
      draftPacket({ ...MAIL_TO_JANE, needsInput: [{ path: 'params.x', message: 'x' }] }),
    ],
  ])('does not excuse %s', async (_what, packet) => {
    const text = `Faulty ${++named}`;
    runner.answer(text, { packets: [packet] });
    const { directiveId } = await desk.handIn({ text, capo: 'capo_ops' });
    const failed = await desk.until(directiveId, 'failed');
    expect(failed.error.code).toBe('INVALID_OUTPUT');
    expect(failed.error.message).toMatch(
      /^The capo (proposed an action of the type email\.send with invalid parameters: params\.|asked for input)/,
    );
  });
});

describe('401, 403, 404', () => {
  it('is for whoever may approve', async () => {
    const { approvalId, hash } = await ready();
    const body = { add: [{ action: NOTE }] };
    const viewer = new Desk(test, (await test.createMember(test.workspaceId, 'viewer')).token);
    const stranger = new Desk(test, (await test.createWorkspace()).owner.token);
    const nobody = new Desk(test, undefined);
    const patch = (who: Client) => who.send('PATCH', `/approvals/${approvalId}`, body, { 'If-Match': hash });
    expect((await patch(new Client(nobody.test.url, undefined))).status).toBe(401);
    expect((await viewer.edit(approvalId, body, hash)).status).toBe(403);
    expect((await stranger.edit(approvalId, body, hash)).status).toBe(404);
    for (const id of [newId('apr'), 'x', '%00']) expect((await desk.edit(id, body, hash)).status).toBe(404);
    expect((await desk.approval(approvalId)).contentHash).toBe(hash);
  });
});

describe('409', () => {
  it('is APPROVAL_ALREADY_DECIDED once it is decided', async () => {
    const approved = await ready();
    await desk.approve(approved.approvalId);
    await desk.until(approved.directiveId, 'executed');
    await expectRefused(approved, { add: [{ action: NOTE }] }, 409, 'APPROVAL_ALREADY_DECIDED');
    const revised = await ready();
    await desk.reject(revised.approvalId, { feedback: 'Shorter.', revise: true });
    const answer = await desk.edit(revised.approvalId, { add: [{ action: NOTE }] }, revised.hash);
    expect(answer.body.error).toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
      details: { status: 'changes_requested' },
    });
  });

  it('is APPROVAL_NOT_READY while the draft is being made, and the approval says what it waits for', async () => {
    const { owner } = await test.createWorkspace();
    const own = new Desk(test, owner.token);
    expect((await own.client.post('/agents/capo_ops/pause')).status).toBe(200);
    const { approvalId } = await own.handIn({ text: 'Later', capo: 'capo_ops' });
    const refused = await own.edit(approvalId, { add: [{ action: NOTE }] }, 'x');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'APPROVAL_NOT_READY']);
    const { waitingFor } = await own.approval(approvalId);
    expect(waitingFor).toEqual({
      reason: 'resume',
      message: expect.stringMatching(/^owner .* paused .*: the draft is made once an admin resumes it\.$/),
    });
    const [listed] = (await own.client.get('/approvals')).body.items;
    expect(listed).toMatchObject({ approvalId, waitingFor, inputsNeeded: 0 });

    await own.kill();
    expect((await own.approval(approvalId)).waitingFor.reason).toBe('revert');
    await own.revert();
    expect((await own.approval(approvalId)).waitingFor.reason).toBe('resume');
    await own.client.post('/agents/capo_ops/resume');
    expect((await own.ready(approvalId)).waitingFor.reason).toBe('decision');
    await own.mode('observe');
    expect((await own.approval(approvalId)).waitingFor.reason).toBe('mode');
    await own.reject(approvalId);
    expect((await own.approval(approvalId)).waitingFor).toBeNull();
  });

  it('is INVALID_TRANSITION when it has reached its limit of edits', async () => {
    const one = await ready();
    await test.rows(
      `update approvals set revisions = (select jsonb_agg(jsonb_build_object('n', n, 'changes', '[]'::jsonb)) from generate_series(1, 50) n)
       where approval_id = $1`,
      [one.approvalId],
    );
    const error = await expectRefused(one, { add: [{ action: NOTE }] }, 409, 'INVALID_TRANSITION');
    expect(error.message).toContain('has reached its limit of 50 edits');
  });
});

describe('410', () => {
  it('is APPROVAL_EXPIRED, before the clock has come by and after', async () => {
    const one = await ready();
    await test.rows(`update approvals set expires_at = now() - interval '1 s' where approval_id = $1`, [
      one.approvalId,
    ]);
    for (const wait of [async () => undefined, () => desk.until(one.directiveId, 'expired')]) {
      await wait();
      const answer = await desk.edit(one.approvalId, { add: [{ action: NOTE }] }, one.hash);
      expect([answer.status, answer.body.error.code]).toEqual([410, 'APPROVAL_EXPIRED']);
    }
    expect(await desk.approval(one.approvalId)).toMatchObject({ contentHash: one.hash, status: 'expired' });
  });
});

describe('412 and 428', () => {
  it('is CONTENT_CHANGED for another hash than the current one, and of two edits one wins', async () => {
    const { approvalId, hash } = await ready();
    const add = (title: string) => ({ add: [{ action: { ...NOTE, title } }] });
    const answers = await Promise.all(['One', 'Two'].map((title) => desk.edit(approvalId, add(title), hash)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    const { contentHash, packets } = await desk.approval(approvalId);
    expect(packets).toHaveLength(2);
    const stale = answers.find(({ status }) => status === 412)!;
    expect(stale.body.error).toMatchObject({ code: 'CONTENT_CHANGED', details: { contentHash } });
  });

  it('is PRECONDITION_REQUIRED without If-Match, and for one that asks for nothing', async () => {
    const { approvalId, directiveId } = await ready();
    const before = await stateOf(approvalId, directiveId);
    for (const headers of [{}, { 'If-Match': '*' }] as Record<string, string>[]) {
      const answer = await desk.client.send(
        'PATCH',
        `/approvals/${approvalId}`,
        { add: [{ action: NOTE }] },
        headers,
      );
      expect([answer.status, answer.body.error.code]).toEqual([428, 'PRECONDITION_REQUIRED']);
    }
    expect(await stateOf(approvalId, directiveId)).toEqual(before);
  });
});

describe('422', () => {
  it('lists every fault at its path, and changes nothing', async () => {
    const { packetIds, ...one } = await ready({ packets: [MAIL_TO_JANE, MEMO] });
    const error = await expectRefused(
      one,
      {
        packets: [
          {
            workPacketId: packetIds[0],
            params: { to: ['jane', 'joe@acme.example'], subject: 'a\r\nBcc: eve@evil.example', body: '' },
          },
          { workPacketId: newId('pkt'), params: {} },
          { workPacketId: packetIds[1], params: { title: 'x', body: 'y', more: 1 } },
        ],
        add: [
          { action: { type: 'revenue.record', params: {} } },
          { action: { type: 'nothing.known', params: {} } },
          { action: { type: 'document.file', params: { title: 'x' } } },
        ],
        remove: [packetIds[1]],
        output: { body: 'x' },
        params: { body: 'x' },
      },
      422,
      'VALIDATION_FAILED',
    );
    expect(error.details.map(({ path, rule }: any) => `${path} ${rule}`).toSorted()).toEqual([
      'add.0.action.type scope',
      'add.1.action.type known',
      'add.2.action.params.body missing',
      'output.body singleDocument',
      'packets.0.params.body custom',
      'packets.0.params.subject custom',
      'packets.0.params.to.0 invalid_format',
      'packets.1.workPacketId known',
      'params isOfAction',
      'remove.0 once',
    ]);
  });

  it('names a parameter that does not exist, whatever it is called', async () => {
    const { packetIds, ...one } = await ready();
    for (const name of ['bcc', 'toString', 'constructor']) {
      const params = { ...MAIL_TO_JANE.params, [name]: 'eve@evil.example' };
      const body = { packets: [{ workPacketId: packetIds[0], params }] };
      const { details } = await expectRefused(one, body, 422, 'VALIDATION_FAILED');
      expect(details).toMatchObject([{ path: `packets.0.params.${name}` }]);
    }
  });

  it.each([
    ['nothing', {}],
    ['an unknown property', { packet: [] }],
    ['a packet without parameters', { packets: [{ workPacketId: newId('pkt') }] }],
    [
      'a confirmation that is no list',
      { packets: [{ workPacketId: newId('pkt'), params: {}, confirm: 'x' }] },
    ],
    ['parameters that are a list', { packets: [{ workPacketId: newId('pkt'), params: [] }] }],
    ['an id that is none', { remove: ['x'] }],
    ['an addition without an action', { add: [{}] }],
    ['null', { packets: null, add: null, remove: null, output: null }],
    ['a title of two lines', { add: [{ action: { ...NOTE, title: 'a\nb' } }] }],
    ['an output that is a text', { output: 'x' }],
    ['too many', { add: Array.from({ length: 101 }, () => ({ action: NOTE })) }],
    ['more than fits', { add: Array.from({ length: 100 }, () => ({ action: NOTE })) }],
  ])('refuses %s', async (_what, body) => {
    await expectRefused(await ready(), body, 422, 'VALIDATION_FAILED');
  });

  it('refuses to leave nothing to be sent', async () => {
    const { packetIds, ...one } = await ready();
    const { details } = await expectRefused(one, { remove: packetIds }, 422, 'VALIDATION_FAILED');
    expect(details).toMatchObject([{ path: 'remove', rule: 'someRemain' }]);
  });

  it('is POLICY_DENIED for what an order forbids, whoever may see that order', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const teamId = await test.createTeam(workspaceId, 'Sales');
    const member = new Desk(test, (await test.createMember(workspaceId, 'operator', [teamId])).token);
    const own = new Desk(test, owner.token);
    const { directiveId, approvalId, hash, packetIds } = await ready(undefined, member);
    const { body: order } = await own.client.post('/standing-orders', {
      name: 'Not to Evil',
      effect: 'deny',
      match: { fields: { 'params.to': { $domainIn: ['evil.example'] } } },
    });
    await activate(own, order.standingOrderId);
    const before = await own.approval(approvalId);
    const params = { ...NEW_MAIL, cc: ['eve@evil.example'] };
    for (const body of [
      { packets: [{ workPacketId: packetIds[0], params }] },
      { add: [{ action: { type: 'email.send', params } }] },
    ]) {
      const denied = await member.edit(approvalId, body, hash);
      expect([denied.status, denied.body.error.code], denied.text).toEqual([422, 'POLICY_DENIED']);
      expect(denied.body.error.message).toContain('Not to Evil');
    }
    expect(await own.approval(approvalId)).toEqual(before);
    expect((await own.packets(directiveId)).map(({ status }) => status)).toEqual(['awaiting_approval']);
  });
});

describe('423', () => {
  it('is GUARDIAN_HALTED after a kill, and goes on after the revert', async () => {
    const { owner } = await test.createWorkspace();
    const own = new Desk(test, owner.token);
    const { approvalId, hash, directiveId } = await ready(undefined, own);
    await own.kill();
    const body = { add: [{ action: NOTE }] };
    const refused = await own.edit(approvalId, body, hash);
    expect([refused.status, refused.body.error.code]).toEqual([423, 'GUARDIAN_HALTED']);
    expect((await own.approval(approvalId)).contentHash).toBe(hash);
    await own.revert();
    expect((await own.edit(approvalId, body, hash)).status).toBe(200);
    await own.approve(approvalId);
    await own.until(directiveId, 'executed');
  });
});

describe('POST /approvals/{id}/reject with revise', () => {
  it('answers the approval that follows, the same answer again, and shows it', async () => {
    const { approvalId, directiveId } = await ready();
    const first = await desk.reject(approvalId, { feedback: 'Shorter.', revise: true });
    const { approvalId: next } = await desk.directive(directiveId);
    expect(first.body).toMatchObject({ status: 'changes_requested', nextApprovalId: next });
    expect((await desk.reject(approvalId, { feedback: 'Shorter.', revise: true })).body).toEqual(first.body);
    expect(await desk.approval(approvalId)).toMatchObject({
      nextApprovalId: next,
      status: 'changes_requested',
    });
    expect(await desk.ready(next)).toMatchObject({ nextApprovalId: null });
    const many = await desk.client.post('/approvals', {
      decisions: [{ approvalId: next, decision: 'reject', feedback: 'Shorter still.', revise: true }],
    });
    expect(many.body.results).toMatchObject([
      { approvalId: next, nextApprovalId: (await desk.directive(directiveId)).approvalId },
    ]);
  });

  it('gives the next draft what people made of this one', async () => {
    const { approvalId, directiveId, hash, packetIds } = await ready({ packets: [MAIL_TO_JANE, MEMO] });
    const body = {
      packets: [{ workPacketId: packetIds[0], params: NEW_MAIL }],
      add: [{ action: NOTE }],
      remove: [packetIds[1]],
    };
    const edited = (await desk.edit(approvalId, body, hash)).body;
    await desk.reject(approvalId, { feedback: 'Shorter.', revise: true });
    const [row] = await test.rows<{ feedback: any[] }>(
      'select feedback from directives where directive_id = $1',
      [directiveId],
    );
    expect(row!.feedback[0].previous).toMatchObject({
      summary: edited.summary,
      body: edited.output.body,
      packets: [
        { type: 'email.send', params: NEW_MAIL },
        { type: 'document.file', params: NOTE.params },
      ],
    });
    const next = await desk.ready((await desk.directive(directiveId)).approvalId);
    expect(next.revisions).toHaveLength(1);
    expect(next.packets).toHaveLength(2);
  });

  it('gives the next draft what is still to be supplied', async () => {
    const { approvalId, directiveId } = await ready({ packets: [UNFINISHED] });
    await desk.reject(approvalId, { feedback: 'cc bob@x.example', revise: true });
    const [row] = await test.rows<{ feedback: any[] }>(
      'select feedback from directives where directive_id = $1',
      [directiveId],
    );
    expect(row!.feedback[0].previous.packets).toMatchObject([{ needsInput: [WHO, WORD_IT] }]);
  });
});
