import { Readable } from 'node:stream';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CAPO_RUNNER } from '../../../src/features/capos/capos.module.js';
import { type CapoRunner, RunnerFailed } from '../../../src/features/capos/briefing.js';
import { countReport } from '../../../src/features/verifier/report-proof.js';
import { receiptsIn } from '../../../src/features/verifier/verifier.js';
import { draftPacket } from '../../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { ReportDesk } from './report-desk.js';

const ADDRESS = 'boss@acme.example';

let mail: MailServer;
let test: TestApp;
let refusal: { code: number; text: string } | undefined;
let original: CapoRunner['run'];
let runner: CapoRunner;
let perWorkspace: number;
beforeAll(async () => {
  mail = await startMailServer({ recipient: () => refusal });
  test = await startTestApp({
    SMTP_URL: mail.url,
    MAIL_FROM: 'Consigliere <consigliere@northwind.example>',
    REPORT_SECTION_SECONDS: '2',
  });
  const noon = new Date(test.clock.now());
  noon.setUTCHours(12, 0, 0, 0);
  test.clock.advance(noon.getTime() - test.clock.now());
  runner = test.app.get<CapoRunner>(CAPO_RUNNER);
  original = runner.run.bind(runner);
  perWorkspace = runner.perWorkspace;
});
afterEach(() => {
  refusal = undefined;
  Object.assign(runner, { run: original, perWorkspace });
  mail.received.length = 0;
});
afterAll(async () => {
  await test.close();
  await mail.close();
});

const mails = () => Promise.all(mail.received.map(({ bytes }) => PostalMime.parse(bytes)));
const mailed = (count: number) => eventually(mails, ({ length }) => length >= count);

async function opened(config: object = {}): Promise<ReportDesk> {
  const desk = await ReportDesk.open(test);
  const delivery = { email: true, emailAddress: ADDRESS };
  expect((await desk.owner.put('/reports/config', { delivery, ...config })).status).toBe(200);
  return desk;
}

const until = (desk: ReportDesk, status: string) =>
  eventually(
    async () => (await desk.owner.get('/reports')).body.items[0],
    (item) => item?.delivery.status === status,
  );

/** What each capo answers, by what it is asked. */
function answering(answers: Record<string, () => ReturnType<CapoRunner['run']>>): void {
  // As many at once as a model is asked.
  Object.assign(runner, { perWorkspace: 4 });
  runner.run = (briefing, options) => answers[briefing.directive.text]?.() ?? original(briefing, options);
}
const paper = (body: string) => ({
  remarks: '',
  packets: [draftPacket({ type: 'document.file', params: { title: 'A paper', body } })],
  concerns: [],
  engine: { name: 'openai-compatible', model: 'a-model' },
  cost: { amount: 0.0123, currency: 'USD', tokensIn: 100, tokensOut: 10 },
});

describe('a report that is mailed', () => {
  it('is HTML with a text part that say the same, small and without anything from elsewhere', async () => {
    const desk = await opened();
    for (let n = 0; n < 30; n++) {
      const description = `<img src="https://evil.example/x.png"> ${'long '.repeat(40)}`;
      await desk.owner.post('/revenue-events', {
        amount: 1.5,
        currency: 'EUR',
        source: `shop ${n}`,
        description,
      });
    }
    test.clock.advance(86_400_000);
    await desk.look(desk.day(2));
    const [received] = await mailed(1);
    expect(mail.received[0]!.to).toEqual([ADDRESS]);
    expect(received!.subject).toMatch(
      /^Daily Report, \w+, \d+ \w+ \d{4}: 0 directives executed, 45\.00 EUR earned/,
    );
    const html = received!.html!;
    expect(Buffer.byteLength(html)).toBeLessThan(60_000);
    expect(html).not.toMatch(/<(img|script|link|iframe|object)\b/);
    expect(html).not.toMatch(/ (src|background)="|url\(|@import/);
    expect(html).toContain('color-scheme');
    expect(html).toContain('prefers-color-scheme:dark');
    expect(html).toContain('&lt;img src=');
    expect(received!.text).not.toContain('Waiting for you');
    expect(received!.text).toContain('10 more are not listed here.');
    expect(received!.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
    expect(await until(desk, 'sent')).toMatchObject({
      delivery: { channel: 'email', at: expect.any(String) },
    });
    expect(await desk.actions('report.mailed')).toHaveLength(1);
    test.clock.advance(-86_400_000);
  });

  it('is Markdown alone as plain-text, and the report itself as json', async () => {
    const plain = await opened({ format: 'plain-text' });
    await plain.look(plain.day(2));
    const [markdown] = await mailed(1);
    expect(markdown!.html).toBeUndefined();
    expect(markdown!.text).toMatch(/^# Daily Report/);
    mail.received.length = 0;
    const json = await opened({ format: 'json' });
    await json.look(json.day(2));
    const [machine] = await mailed(1);
    expect(JSON.parse(machine!.text!)).toEqual((await json.daily(json.day(1))).body);
  });

  it('is mailed to nobody while mail is off', async () => {
    const desk = await ReportDesk.open(test);
    await desk.look(desk.day(2));
    await desk.scheduled(1);
    await eventually(
      () =>
        test.rows('select 1 from reports where workspace_id = $1 and announced_at is not null', [
          desk.workspaceId,
        ]),
      ({ length }) => length === 1,
    );
    expect(await mails()).toEqual([]);
    expect(await until(desk, 'none')).toMatchObject({ delivery: { channel: 'none', at: null } });
  });

  it('raises a signal when the address is refused, and is sent again by hand to another', async () => {
    const desk = await opened();
    refusal = { code: 550, text: 'No such mailbox' };
    await desk.look(desk.day(2));
    const { reportId } = await until(desk, 'failed');
    expect(await desk.actions('report.mail_failed')).toHaveLength(1);
    const { items } = (await desk.owner.get('/signals?type=report')).body;
    expect(items[0]).toMatchObject({ severity: 'warning', entity: { type: 'report', id: reportId } });
    refusal = undefined;
    await desk.owner.put('/reports/config', { delivery: { emailAddress: 'other@acme.example' } });
    const answer = await desk.owner.post(`/reports/${reportId}/resend`);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      reportId,
      delivery: { channel: 'email', status: 'waiting', at: null },
    });
    await until(desk, 'sent');
    expect(mail.received.at(-1)!.to).toEqual(['other@acme.example']);
    const once = await mails();
    test.clock.advance(30_000);
    // Another mail, with an id of its own.
    await desk.owner.post(`/reports/${reportId}/resend`);
    const twice = await mailed(once.length + 1);
    expect(new Set(twice.map(({ messageId }) => messageId)).size).toBe(twice.length);
    await until(desk, 'sent');
  });

  it('is mailed once more for six who ask for that at once, and for whoever asks later', async () => {
    const desk = await opened();
    await desk.look(desk.day(2));
    const { reportId } = await until(desk, 'sent');
    const resend = () => desk.owner.post(`/reports/${reportId}/resend`);
    const early = await resend();
    expect(early.status).toBe(409);
    expect(early.body.error).toMatchObject({
      code: 'INVALID_TRANSITION',
      message: 'This report was mailed a moment ago. Ask again in half a minute to have it mailed once more.',
    });
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
    test.clock.advance(30_000);
    const answers = await Promise.all(Array.from({ length: 6 }, resend));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409, 409, 409]);
    await until(desk, 'sent');
    expect((await resend()).status).toBe(409);
    expect(await mails()).toHaveLength(2);
    expect(await desk.actions('report.resent')).toHaveLength(1);
    test.clock.advance(30_000);
    expect((await resend()).status).toBe(202);
    expect(await mailed(3)).toHaveLength(3);
    await until(desk, 'sent');
  });

  it('waits while the mail server is away, and is sent once', async () => {
    const desk = await opened();
    refusal = { code: 451, text: 'Later' };
    await desk.look(desk.day(2));
    const tries = () =>
      test.rows<{ tries: number }>('select tries from report_mails where workspace_id = $1', [
        desk.workspaceId,
      ]);
    await eventually(tries, ([row]) => (row?.tries ?? 0) > 0);
    refusal = undefined;
    await test.rows(`update work_items set due_at = now() where workspace_id = $1 and kind = 'report.mail'`, [
      desk.workspaceId,
    ]);
    await until(desk, 'sent');
    expect(await mails()).toHaveLength(1);
  });

  it('is on its way no more once mail is switched off, and can be sent again when it is on', async () => {
    const desk = await opened();
    refusal = { code: 451, text: 'Later' };
    await desk.look(desk.day(2));
    await eventually(
      () => test.rows('select 1 from report_mails where workspace_id = $1 and tries > 0', [desk.workspaceId]),
      ({ length }) => length > 0,
    );
    await desk.owner.put('/reports/config', { delivery: { email: false } });
    await test.rows(`update work_items set due_at = now() where workspace_id = $1 and kind = 'report.mail'`, [
      desk.workspaceId,
    ]);
    const { reportId } = await until(desk, 'none');
    const [skipped] = await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'report.mail_skipped'`,
      [desk.workspaceId],
    );
    expect(JSON.parse(skipped!.body).summary).toBe(
      `The Daily Report of ${desk.day(1)} was not mailed: The mail of reports was switched off before this one was known to be sent.`,
    );
    refusal = undefined;
    await desk.owner.put('/reports/config', { delivery: { email: true } });
    expect((await desk.owner.post(`/reports/${reportId}/resend`)).status).toBe(202);
    await until(desk, 'sent');
    expect(await mails()).toHaveLength(1);
  });

  it('is told to no subscriber where somebody had it made and has it mailed', async () => {
    const desk = await opened({ schedule: 'on-demand' });
    const { reportId } = (await desk.daily(desk.day(1))).body;
    expect((await desk.owner.post(`/reports/${reportId}/resend`)).status).toBe(202);
    await until(desk, 'sent');
    expect(
      await test.rows('select announced_at from reports where workspace_id = $1', [desk.workspaceId]),
    ).toEqual([{ announced_at: null }]);
  });

  it('is told to subscribers where the telling is given up, and no mail has failed that nobody wanted', async () => {
    const desk = await ReportDesk.open(test);
    answering({ 'Never end.': () => new Promise(() => undefined) });
    await desk.owner.post('/reports/custom-sections', {
      title: 'Endless',
      directive: 'Never end.',
      capo: 'capo_revenue',
    });
    await desk.look(desk.day(2));
    await desk.scheduled(1);
    await test.rows(
      `update work_items set failures = 8, due_at = now() where workspace_id = $1 and kind = 'report.deliver'`,
      [desk.workspaceId],
    );
    await eventually(
      () =>
        test.rows(`select 1 from work_items where workspace_id = $1 and kind = 'report.deliver'`, [
          desk.workspaceId,
        ]),
      ({ length }) => length === 0,
    );
    expect(
      await test.rows('select 1 from reports where workspace_id = $1 and announced_at is not null', [
        desk.workspaceId,
      ]),
    ).toHaveLength(1);
    expect(await desk.actions('report.mail_failed')).toEqual([]);
    expect((await desk.owner.get('/signals?type=report')).body.items).toEqual([]);
  });
});

describe('a member who is mailed reports, or wants none', () => {
  /** The configured address is that of a member of the workspace. */
  async function openedFor(notifications: object, own: object) {
    const desk = await opened();
    const member = await test.createMember(desk.workspaceId, 'viewer');
    const [{ user_id: userId }] = (await test.rows<{ user_id: string }>(
      `select user_id from members where workspace_id = $1 and role = 'viewer'`,
      [desk.workspaceId],
    )) as [{ user_id: string }];
    const address = `${userId}@acme.example`;
    await test.rows(`update users set email = $2, display_name = 'Mira' where user_id = $1`, [
      userId,
      address,
    ]);
    const delivery = { emailAddress: address.toUpperCase() };
    expect((await desk.owner.put('/reports/config', { delivery })).status).toBe(200);
    expect((await desk.owner.put('/settings', { notifications })).status).toBe(200);
    expect((await member.put('/profile/notifications', own)).status).toBe(200);
    return desk;
  }

  it.each([
    ['the workspace says none', { reports: 'none' }, {}],
    ['the member says none', {}, { reports: 'none' }],
  ])('is not mailed where %s, and the report says why', async (_where, notifications, own) => {
    const desk = await openedFor(notifications, own);
    await desk.look(desk.day(2));
    const [skipped] = await eventually(
      () =>
        test.rows<{ body: string }>(
          `select body from receipts where workspace_id = $1 and action = 'report.mail_skipped'`,
          [desk.workspaceId],
        ),
      ({ length }) => length > 0,
    );
    expect(JSON.parse(skipped!.body).summary).toBe(
      `The Daily Report of ${desk.day(1)} was not mailed: Mira has chosen to be mailed no reports.`,
    );
    expect((await desk.owner.get('/reports')).body.items[0]).toMatchObject({
      date: desk.day(1),
      delivery: { status: 'none', at: expect.any(String) },
    });
    expect(await mails()).toEqual([]);
  });

  it('is mailed where the member wants them, whatever the workspace says', async () => {
    const desk = await openedFor({ reports: 'none' }, { reports: 'all' });
    await desk.look(desk.day(2));
    expect(await mailed(1)).toHaveLength(1);
  });

  it('is mailed to an address that is no member of the workspace', async () => {
    const desk = await opened();
    expect((await desk.owner.put('/settings', { notifications: { reports: 'none' } })).status).toBe(200);
    await desk.look(desk.day(2));
    expect(await mailed(1)).toHaveLength(1);
  });
});

describe("sections of the workspace's own", () => {
  const section = (title: string, directive: string, capo = 'capo_revenue') => ({ title, directive, capo });

  it('are written anew for each report by their capo, and cost what they cost', async () => {
    const desk = await opened();
    let n = 0;
    answering({
      'Sum up the pipeline.': () =>
        Promise.resolve(paper(`Version ${++n} of the pipeline.\n\n# Not a heading of ours`)),
    });
    await desk.owner.post('/reports/custom-sections', section('Pipeline', 'Sum up the pipeline.'));
    await desk.owner.post('/reports/custom-sections', {
      ...section('Off', 'Nobody asks this.'),
      includeInReport: false,
    });
    await desk.look(desk.day(3));
    const received = await mailed(2);
    const bodies = await Promise.all([2, 1].map(async (back) => (await desk.daily(desk.day(back))).body));
    expect(bodies.map(({ customSections }) => customSections.length)).toEqual([1, 1]);
    const texts = bodies.map(({ customSections: [one] }) => one.body as string).toSorted();
    expect(texts).toEqual([expect.stringMatching(/^Version 1/), expect.stringMatching(/^Version 2/)]);
    expect(bodies[0].customSections[0]).toMatchObject({
      title: 'Pipeline',
      capo: 'capo_revenue',
      status: 'done',
      error: null,
    });
    expect(received[0]!.text).toContain('| # Not a heading of ours');
    // Nothing that it proposes is carried out.
    expect(await test.rows('select 1 from documents where workspace_id = $1', [desk.workspaceId])).toEqual(
      [],
    );
    const today = (await desk.daily(desk.day(0))).body.sections;
    expect(today.costLedger).toMatchObject({
      total: 0.0246,
      currency: 'USD',
      byCapo: [{ capo: 'capo_revenue', currency: 'USD', amount: 0.0246 }],
      byModel: [{ model: 'a-model', amount: 0.0246, tokensIn: 200, tokensOut: 20, calls: 2 }],
    });
    expect(today.agentActivity.capos.capo_revenue.cost).toBe(0.0246);
  });

  it('hold nothing that cannot be seen, and are words in Markdown', async () => {
    const desk = await opened();
    const hidden = [...'pay eve']
      .map((letter) => String.fromCodePoint(0xe0000 + letter.codePointAt(0)!))
      .join('');
    const text = `## Revenue\n![x](https://evil.example/p.png) <script>alert(1)</script>`;
    answering({
      'Write.': () => Promise.resolve(paper(`${text}${hidden}\u202e\u200b`)),
      'Write nothing that is seen.': () => Promise.resolve(paper(hidden)),
    });
    for (const directive of ['Write.', 'Write nothing that is seen.'])
      await desk.owner.post('/reports/custom-sections', section(directive, directive));
    await desk.look(desk.day(2));
    await mailed(1);
    const { customSections } = (await desk.daily(desk.day(1))).body;
    expect(customSections).toMatchObject([
      { status: 'done', body: text },
      { status: 'failed', body: null, error: 'Its capo wrote no text for it.' },
    ]);
    const plain = await desk.owner.get(`/reports/daily?date=${desk.day(1)}`, { Accept: 'text/plain' });
    expect(plain.text).toContain(
      '> \\## Revenue  \n> !\\[x\\](https:\\/\\/evil.example/p.png) \\<script\\>alert(1)\\</script\\>\n',
    );
  });

  it('that fail or are late are marked, and hold the report back no longer than their time', async () => {
    const desk = await opened();
    answering({
      'Fail.': () => Promise.reject(new RunnerFailed('refused', 'The model declined to write this.', false)),
      'Never end.': () => new Promise(() => undefined),
      'Write nothing.': () => Promise.resolve({ ...paper(''), packets: [] }),
      'Write.': () => Promise.resolve(paper('All is well.')),
    });
    for (const directive of ['Fail.', 'Never end.', 'Write nothing.', 'Write.'])
      await desk.owner.post('/reports/custom-sections', section(directive, directive));
    await desk.owner.post('/agents/capo_ops/pause');
    await desk.owner.post('/reports/custom-sections', section('Paused', 'Write.', 'capo_ops'));
    await desk.look(desk.day(2));
    const [received] = await mailed(1);
    const { customSections } = (await desk.daily(desk.day(1))).body;
    const states = customSections.map(({ title, status, error }: Record<string, string>) => [
      title,
      status,
      error,
    ]);
    expect(states).toEqual([
      ['Fail.', 'failed', 'The model declined to write this.'],
      ['Never end.', 'late', 'Its capo had not written it in time.'],
      ['Write nothing.', 'failed', 'Its capo wrote no text for it.'],
      ['Write.', 'done', null],
      ['Paused', 'failed', expect.stringContaining('was paused as the report was made.')],
    ]);
    // Whoever has saved the report can hold each of them against its receipt.
    const { text } = await desk.owner.get('/audit-feed?format=jsonl');
    const exported = await receiptsIn(Readable.from([Buffer.from(text)]));
    const { body: report } = await desk.daily(desk.day(1));
    expect(countReport(exported, report, desk.workspaceId)).toMatchObject({
      differences: [],
      notCounted: [],
    });
    expect(received!.text).toContain('| All is well.');
    expect(received!.text).toContain('The model declined to write this.');
    await desk.owner.post('/agents/capo_ops/resume');
  });

  it('are not written while the kill switch is engaged, and the report goes out and says so', async () => {
    const desk = await opened();
    await desk.owner.post('/reports/custom-sections', section('Pipeline', 'Sum up the pipeline.'));
    await desk.owner.post('/guardian/kill-switch');
    await desk.look(desk.day(2));
    const [received] = await mailed(1);
    expect(received!.text).toContain('! The kill switch is engaged');
    const { customSections } = (await desk.daily(desk.day(1))).body;
    expect(customSections[0]).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('The kill switch'),
    });
  });

  it('are written for a report that somebody asks for, which is told to nobody', async () => {
    const desk = await opened({ schedule: 'on-demand' });
    answering({ 'Write.': () => Promise.resolve(paper('All is well.')) });
    await desk.owner.post('/reports/custom-sections', section('Well-being', 'Write.'));
    const first = await desk.daily(desk.day(1));
    expect(first.body.customSections).toEqual([
      expect.objectContaining({ title: 'Well-being', status: 'pending' }),
    ]);
    const written = await eventually(
      async () => (await desk.daily(desk.day(1))).body.customSections[0],
      ({ status }) => status === 'done',
    );
    expect(written.body).toBe('All is well.');
    expect(await mails()).toEqual([]);
  });
});
