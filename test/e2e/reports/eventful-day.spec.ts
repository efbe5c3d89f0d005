import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markdownOf } from '../../../src/features/reports/report-outline.js';
import type { DailyReport } from '../../../src/features/reports/report.js';
import { countReport } from '../../../src/features/verifier/report-proof.js';
import { receiptsIn } from '../../../src/features/verifier/verifier.js';
import { eventually } from '../../support/test-app.js';
import { DOCUMENT, MAIL } from '../directives/desk.js';
import {
  type DecisionMail,
  type MailedMember,
  NotificationDesk,
} from '../notifications/notification-desk.js';

/** Where a reader finds the report and the mails of the day, to answer from them alone what happened. */
const OUTPUT = join(import.meta.dirname, '../../../test-results/eventful-day');
const LOSSES = ['900', '80', '7'].map((amount) => `Pay out revenue of ${amount} EUR`);

let desk: NotificationDesk;
let owner: MailedMember;
let operator: MailedMember;
let workspaceId: string;
let report: DailyReport;
let reportMail: DecisionMail;
let ids: Record<'mail' | 'both' | 'memo' | 'rejected' | 'expired' | 'waiting', string>;

/** Of these two recipients the mail server knows one. */
const TO_BOTH = 'Email jane@acme.example and bob@acme.example, subject "Prices": The prices rise in March.';
const UNKNOWN = 'bob@acme.example';

const carryOut = async (text: string, capo = 'capo_ops') => {
  const { directiveId, approvalId } = await desk.desk(operator).handInReady({ text, capo });
  expect((await desk.desk(owner).approve(approvalId)).status).toBe(200);
  await desk.desk(owner).until(directiveId, 'executed');
  return directiveId;
};

/** Two kills, a revert with undone packets, an expiry, three failed drafts, a refused recipient and a rejection. */
async function pass(): Promise<void> {
  const members = desk.desk(owner);
  const mail = await carryOut(MAIL);
  const both = await carryOut(TO_BOTH);
  await desk.desk(operator).kill('The prices are wrong.');
  await members.revert();
  const { checkpointId } = (await members.client.post('/guardian/checkpoint')).body;
  const memo = await carryOut(DOCUMENT);
  await members.kill('The memo names a customer.');
  const undo = { mode: 'compensate', checkpointId, reason: 'Take the memo back.' };
  expect((await members.client.post('/guardian/revert', undo)).status).toBe(200);
  await members.until(memo, 'reverted');
  await eventually(
    async () => (await members.client.get('/guardian')).body.mode,
    (mode) => mode === 'guardrailed',
  );
  for (const text of LOSSES) {
    const { directiveId } = await desk.desk(operator).handIn({ text, capo: 'capo_revenue' });
    await members.until(directiveId, 'failed');
  }
  const late = await desk.desk(operator).handInReady({ text: `${MAIL} Write by noon.`, capo: 'capo_ops' });
  // Past by the clock of the test and by that of the database.
  await desk.test.rows(
    `update approvals set requested_at = least(now(), $2) - interval '1 hour', expires_at = least(now(), $2) - interval '1 second'
     where approval_id = $1`,
    [late.approvalId, new Date(desk.test.clock.now())],
  );
  await members.until(late.directiveId, 'expired', 30);
  const unwanted = await desk
    .desk(operator)
    .handInReady({ text: `${MAIL} Offer 90 % off.`, capo: 'capo_ops' });
  expect((await members.reject(unwanted.approvalId, { feedback: 'Too cheap.' })).status).toBe(200);
  const waiting = await desk.desk(operator).handInReady({ text: `${MAIL} Say sorry.`, capo: 'capo_ops' });
  ids = {
    mail,
    both,
    memo,
    rejected: unwanted.directiveId,
    expired: late.directiveId,
    waiting: waiting.approvalId,
  };
}

/** What stands below a heading of a mail. */
const partOf = (text: string, title: string) =>
  text.split(/\n(?=[^\n]+\n---)/).find((part) => part.startsWith(title));

beforeAll(async () => {
  desk = await NotificationDesk.open({
    recipient: (address) => (address === UNKNOWN ? { code: 550, text: 'No such user' } : undefined),
  });
  const noon = new Date(desk.test.clock.now());
  noon.setUTCHours(12, 0, 0, 0);
  desk.test.clock.advance(noon.getTime() - desk.test.clock.now());
  ({ workspaceId, owner } = await desk.workspace());
  operator = await desk.member(workspaceId, 'operator');
  await desk.test.rows(
    `update workspaces set timezone = 'Europe/Vienna', created_at = now() - interval '9 days' where workspace_id = $1`,
    [workspaceId],
  );
  const delivery = { email: true, emailAddress: 'boss@acme.example', timezone: 'Europe/Vienna' };
  expect((await owner.put('/reports/config', { delivery })).status).toBe(200);
  await pass();
  await desk.quiet();
  const date = new Date(desk.test.clock.now()).toISOString().slice(0, 10);
  desk.test.clock.advance(86_400_000);
  const dayBefore = new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
  await desk.test.rows('update report_configs set due_at = now(), last_date = $2 where workspace_id = $1', [
    workspaceId,
    dayBefore,
  ]);
  [reportMail] = (await desk.mailed('boss@acme.example')) as [DecisionMail];
  report = (await owner.get(`/reports/daily?date=${date}`)).body;
  await mkdir(OUTPUT, { recursive: true });
  const mails = [...(await desk.mails(owner.email)), ...(await desk.mails(operator.email))];
  await writeFile(join(OUTPUT, 'report.md'), markdownOf(report));
  await writeFile(join(OUTPUT, 'report.json'), JSON.stringify(report, null, 2));
  const texts = [reportMail, ...mails].map(
    ({ to, subject, text }) => `To: ${to[0]!.address}\nSubject: ${subject}\n\n${text}`,
  );
  await writeFile(join(OUTPUT, 'mails.txt'), texts.join(`\n${'='.repeat(72)}\n`));
}, 120_000);
afterAll(() => desk.close());

describe('the report of a day on which much was stopped', () => {
  it('counts it, and each number can be counted again from exported receipts', async () => {
    expect(report.sections.agentActivity).toMatchObject({
      directivesExecuted: 3,
      movesSent: 2,
      notReachedTotal: 1,
      movesUndone: 1,
      directivesFailed: 3,
      directivesRejected: 1,
      directivesExpired: 1,
      notDoneTotal: 5,
    });
    expect(report.sections.guardianState).toMatchObject({ kills: 2, reverts: 2, recoveries: 1 });
    expect(report.headline).toBe(
      '3 directives executed, 3 failed, 1 rejected, 1 expired, 1 work packet undone, kill switch engaged 2 times, 1 approval waiting.',
    );
    const { text } = await owner.get('/audit-feed?format=jsonl');
    const receipts = await receiptsIn(Readable.from([Buffer.from(text)]));
    expect(countReport(receipts, report, workspaceId)).toMatchObject({ differences: [], notCounted: [] });
  });

  it('names what left with its recipient, who stopped what, and what came to nothing, by their records', () => {
    const { sent, undone, notDone } = report.sections.agentActivity!;
    expect(sent).toMatchObject([
      { directiveId: ids.mail, to: 'jane@acme.example' },
      { directiveId: ids.both, to: `jane@acme.example, ${UNKNOWN}` },
    ]);
    expect(undone).toMatchObject([{ directiveId: ids.memo }]);
    expect(notDone!.map(({ directiveId }) => directiveId).slice(3)).toEqual([ids.expired, ids.rejected]);
    expect(report.sections.guardianState!.acts).toMatchObject([
      { summary: expect.stringMatching(/engaged the kill switch: The prices are wrong\.$/) },
      { summary: expect.stringMatching(/reverted the kill switch/) },
      { summary: expect.stringMatching(/engaged the kill switch: The memo names a customer\.$/) },
      {
        summary: expect.stringMatching(
          /^owner .+ has what was carried out since a checkpoint undone: 1 of 1/,
        ),
      },
      { summary: expect.stringMatching(/^1 work packet was undone/) },
    ]);
  });

  it('names whom a mail did not reach, and what a person has to decide because of it', async () => {
    expect(report.sections.agentActivity!.notReached).toMatchObject([
      { directiveId: ids.both, entity: { type: 'work_packet' }, to: UNKNOWN },
    ]);
    const { items } = (await owner.get('/escalations')).body;
    expect(report.sections.approvalQueue!.escalations).toEqual({
      open: 1,
      items: items.map(({ escalationId, kind, reason, options, createdAt, dueAt }: any) => ({
        ...{ escalationId, kind, reason, options, dueAt },
        createdAt: new Date(createdAt).toISOString(),
      })),
    });
    const [escalation] = items;
    expect(escalation.reason).toContain(`${UNKNOWN} (`);
    const [waiting, left, missed] = [
      'Waiting for you',
      'Sent and done',
      'Mails that did not reach everybody',
    ].map((title) => partOf(reportMail.text!, title));
    expect(waiting).toContain(escalation.reason);
    expect(waiting).toContain(`options: dismiss, ${escalation.escalationId})`);
    expect(left!.match(/" to jane@acme\.example\. \(/g)).toHaveLength(2);
    expect(missed).toMatch(/^- .*Prices.*did not reach bob@acme\.example/m);
    expect(missed).toContain(ids.both);
  });

  it('says so in its mail, names the zone once, and has no line about nothing', () => {
    const text = reportMail.text!;
    for (const line of [
      /^Sent and done$/m,
      /^- Ops sent the mail ".+" to jane@acme\.example\. \(\d\d:\d\d, dir_/m,
      /^What was undone$/m,
      /^What was not carried out$/m,
      /ended as failed: Nothing was prepared: /,
      /was rejected by /,
      /expired with its approval; nothing was sent\./,
      /^If you still want one of these, hand it in again or have it drafted again\.$/m,
      /^Waiting for you$/m,
    ])
      expect(text).toMatch(line);
    expect(text.match(/Europe\/Vienna/g)).toHaveLength(1);
    expect(markdownOf(report).match(/Europe\\?\/Vienna/g)).toHaveLength(1);
    for (const nothing of [
      /: 0$/m,
      /\b0 (executed|released|blocked)/,
      /^Trust$/m,
      /^Revenue$/m,
      /^Cost of models$/m,
    ])
      expect(text).not.toMatch(nothing);
  });
});

describe('the mails of that day', () => {
  it('tell the operator of each failed draft, and the owner of each kill and its end', async () => {
    const toOperator = (await desk.mails(operator.email)).map(({ subject }) => subject);
    for (const text of LOSSES) expect(toOperator).toContain(`Failed: ${text}`);
    const stops = (await desk.mails(owner.email)).map(({ subject }) => subject!.split(':')[0]);
    expect(stops.filter((stop) => stop === 'Stopped' || stop === 'Running again')).toEqual([
      'Stopped',
      'Running again',
      'Stopped',
      'Running again',
    ]);
  });
});
