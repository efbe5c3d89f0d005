import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../support/client.js';
import { draftPacket, ScriptedRunner } from '../../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';

/** Workspaces that race at the same time; a kill stops one of them. */
const WORKSPACES = 4;
const WITHIN_MS = 40;

interface MailParams {
  to: string[];
  subject: string;
  body: string;
}

/** Each content that the approval of a round had, by its hash. */
type Revisions = Map<string, MailParams>;

/**
 * Two people edit, a third approves, a fourth kills and the time runs out, all at once. Whatever comes of it: nothing
 * leaves but the revision that was approved, and it leaves once.
 */
export function describeEditRace(rounds: number, timeout: number): void {
  const figures: Record<string, number> = {};
  const count = (what: string) => (figures[what] = (figures[what] ?? 0) + 1);
  let test: TestApp;
  let mail: MailServer;
  let runner: ScriptedRunner;

  beforeAll(async () => {
    mail = await startMailServer();
    test = await startTestApp({ SMTP_URL: mail.url, LOG_LEVEL: 'warn' });
    runner = new ScriptedRunner(test);
  });
  afterAll(async () => {
    console.table(figures);
    await test.close();
    await mail.close();
  });

  /** One after the other in one workspace. */
  async function race(times: number): Promise<void> {
    const { owner } = await test.createWorkspace();
    const desk = new Desk(test, owner.token);
    for (let time = 0; time < times; time++) await raceOnce(desk, `${owner.token!.slice(-6)}-${time}`);
  }

  async function raceOnce(desk: Desk, name: string): Promise<void> {
    const text = `Race ${name}`;
    const draft = paramsOf(name, 'draft');
    runner.answer(text, { packets: [draftPacket({ type: 'email.send', params: { ...draft } })] });
    const { directiveId, approvalId, approval } = await desk.handInReady({ text, capo: 'capo_ops' });
    const first: string = approval.contentHash;
    const [{ workPacketId }] = approval.packets;
    const revisions: Revisions = new Map([[first, draft]]);

    const edit = async (who: string, hash: string): Promise<string | undefined> => {
      const params = paramsOf(name, who);
      const answer = await desk.edit(approvalId, { packets: [{ workPacketId, params }] }, hash);
      expectOneOf(answer, [200, 409, 410, 412, 423]);
      count(`edit: ${answer.status}`);
      if (answer.status !== 200) return undefined;
      expect(answer.body.packets[0].action.params).toEqual(params);
      revisions.set(answer.body.contentHash, params);
      return answer.body.contentHash;
    };
    const editTwice = async () => {
      const hash = await edit('the first', first);
      if (hash !== undefined) await edit('the first again', hash);
    };
    let killed = false;
    const approved: (string | undefined)[] = [];
    await Promise.all([
      atSomeMoment(editTwice),
      atSomeMoment(() => edit('the second', first)),
      atSomeMoment(async () => approved.push(await approve(desk, approvalId, randomInt(2) === 0))),
      randomInt(2) === 0 &&
        atSomeMoment(async () => {
          expect((await desk.kill()).status).toBe(200);
          killed = true;
          count('kill');
        }),
      randomInt(3) === 0 &&
        atSomeMoment(async () => {
          await expire(approvalId);
          count('expiry');
        }),
    ]);
    if (killed) await desk.revert();
    const status = await ended(desk, directiveId, approvalId);
    count(`directive: ${status}`);
    await expectOnlyApproved({ desk, directiveId, approvalId, name, revisions, tag: approved[0] });
  }

  /** Answers the tag that it was approved under, if it was. */
  async function approve(desk: Desk, approvalId: string, blindly: boolean): Promise<string | undefined> {
    for (let attempt = 0; attempt < 4; attempt++) {
      const { contentHash } = await desk.approval(approvalId);
      const answer = await desk.approve(approvalId, blindly ? {} : { 'If-Match': `"${contentHash}"` });
      expectOneOf(answer, [200, 409, 410, 412, 423]);
      count(`approve: ${answer.status}`);
      if (answer.status === 200) return blindly ? undefined : contentHash;
      if (answer.status !== 412) return undefined;
    }
    return undefined;
  }

  const expire = (approvalId: string) =>
    test.rows(
      `update approvals set expires_at = now() - interval '1 ms' where approval_id = $1 and status = 'pending'`,
      [approvalId],
    );

  /** The status in which it stays; what nobody decided is rejected. */
  async function ended(desk: Desk, directiveId: string, approvalId: string): Promise<string> {
    if ((await desk.approval(approvalId)).status === 'pending') {
      expectOneOf(await desk.reject(approvalId), [200, 410]);
    }
    const { status } = await eventually(
      () => desk.directive(directiveId),
      (directive) => ['executed', 'failed', 'rejected', 'expired'].includes(directive.status),
      30,
    );
    return status;
  }

  async function expectOnlyApproved(round: {
    desk: Desk;
    directiveId: string;
    approvalId: string;
    name: string;
    revisions: Revisions;
    tag: string | undefined;
  }): Promise<void> {
    const { desk, directiveId, approvalId, name, revisions, tag } = round;
    const receipts = await test.rows<{ action: string; details: { before?: string; contentHash: string } }>(
      `select action, body::jsonb->'details' as details from receipts
       where entity_id = $1 and action in ('approval.edited', 'approval.approved') order by seq`,
      [approvalId],
    );
    const edits = receipts.filter(({ action }) => action === 'approval.edited');
    const decisions = receipts.filter(({ action }) => action === 'approval.approved');
    // Each edit goes on from the one before it, and none comes after the decision.
    const hashes = [[...revisions.keys()][0]!, ...edits.map(({ details }) => details.contentHash)];
    expect(edits.map(({ details }) => details.before)).toEqual(hashes.slice(0, -1));
    expect(new Set(hashes)).toEqual(new Set(revisions.keys()));
    expect(receipts.slice(0, edits.length)).toEqual(edits);
    const view = await desk.approval(approvalId);
    expect(view.revisions.map(({ contentHash }: { contentHash: string }) => contentHash)).toEqual(hashes);

    const sent = mail.received.filter(({ to }) => to.includes(addressOf(name)));
    if (decisions.length === 0) {
      expect(sent).toEqual([]);
      return;
    }
    expect(decisions).toHaveLength(1);
    const { contentHash } = decisions[0]!.details;
    expect(contentHash).toBe(hashes.at(-1));
    if (tag !== undefined) expect(contentHash).toBe(tag);
    const allowed = revisions.get(contentHash)!;
    const { status, history } = await desk.directive(directiveId);
    if (history.some(({ to }: { to: string }) => to === 'halted')) count('killed between approval and mail');
    if (status === 'executed') expect(sent).toHaveLength(1);
    expect(sent.length).toBeLessThanOrEqual(1);
    for (const { to, bytes } of sent) {
      count('mail sent');
      expect(to).toEqual(allowed.to);
      const { subject, text } = await PostalMime.parse(bytes);
      expect(subject).toBe(allowed.subject);
      expect(text!.replace(/\n$/, '')).toBe(allowed.body);
    }
  }

  describe(`an edit, an approval, a kill and an expiry at once (${rounds} times)`, { timeout }, () => {
    it('lets nothing leave but the revision that was approved, once and byte for byte', async () => {
      await Promise.all(Array.from({ length: WORKSPACES }, () => race(Math.ceil(rounds / WORKSPACES))));
      figures['rounds'] = WORKSPACES * Math.ceil(rounds / WORKSPACES);
      expect(figures['mail sent']).toBeGreaterThan(0);
      expect(figures['edit: 200']).toBeGreaterThan(0);
    });
  });
}

function addressOf(name: string): string {
  return `${name.toLowerCase()}@acme.example`;
}

/** A mail that no other round and no other author writes. */
function paramsOf(name: string, author: string): MailParams {
  return {
    to: [addressOf(name), `${author.replaceAll(' ', '.')}@acme.example`],
    subject: `${name} by ${author} 🚚`,
    body: `Word for word by ${author}:\n\nes kommt am Donnerstag, ${name}.`,
  };
}

async function atSomeMoment(act: () => Promise<unknown>): Promise<void> {
  await sleep(randomInt(WITHIN_MS));
  await act();
}

function expectOneOf(answer: Answer, statuses: number[]): void {
  expect(statuses, answer.text).toContain(answer.status);
}
