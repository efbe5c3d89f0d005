import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { webhooks } from '@consigliere/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { allFound, programPath } from '../../support/programs.js';
import { closedAddress, commandNames, hasTerminal, MAIN, Shell } from './terminal.js';

/** Of the packs in examples/packs. */
const SKILL_PACK_PUBLISHERS = 'consigliere-examples=E7-z8esuOAy4-IOeSI-bQ1RGmFDT15_fJeH6LXyyEc4';

let test: TestApp;
let admin: TestMember;
let shell: Shell;
let receiver: Awaited<ReturnType<typeof server>>;
const closes: (() => void)[] = [];

beforeAll(async () => {
  receiver = await server(() => ({ status: 200 }));
  test = await startTestApp({ OUTBOUND_ALLOW: new URL(receiver.url).host, SKILL_PACK_PUBLISHERS });
  admin = await test.createMember(test.workspaceId, 'admin');
  shell = await Shell.of(test, admin.token);
});

afterAll(async () => {
  for (const close of closes) close();
  await test?.close();
});

/** An HTTP server on this machine, which keeps what it gets. */
async function server(
  answer: (request: IncomingMessage) => { status: number; body?: string; headers?: Record<string, string> },
) {
  const got: { headers: Record<string, string>; body: string }[] = [];
  const http = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      got.push({ headers: request.headers as Record<string, string>, body });
      const { status, body: text = '', headers } = answer(request);
      response.writeHead(status, headers).end(text);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closes.push(() => http.close());
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, got };
}

describe('agents', () => {
  it('get a token and a tool, and print the lines of an environment', async () => {
    const { code, stdout, stderr } = await shell.run([
      'agents',
      'add',
      'billing',
      '--tool',
      'stripe.refund',
      '--param',
      'amount:integer',
      '--param',
      'note:string?',
      '--risk',
      'medium',
    ]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('may ask for stripe.refund'),
    });
    const [base, token] = stdout.trim().split('\n');
    expect(base).toBe(`CONSIGLIERE_BASE_URL=${test.url}`);
    expect(token).toMatch(/^CONSIGLIERE_TOKEN=cons_/);
    expect(await shell.json(['tools', 'get', 'stripe.refund'])).toMatchObject({
      status: 'active',
      risk: 'medium',
      paramsSchema: { required: ['amount'], properties: { note: { type: 'string' } } },
    });
    const agent = await Shell.of(test, token!.split('=')[1]);
    const asked = await agent.json([
      'api',
      'POST',
      '/action-requests',
      '{"tool":"stripe.refund","params":{"amount":10}}',
    ]);
    expect(asked).toMatchObject({ status: 'pending', agent: { name: 'billing' } });
    const list = await shell.run(['actions', '--status', 'pending']);
    expect(list.stdout).toContain(`${asked.actionRequestId}\tpending\tbilling\t`);
    const show = await shell.run(['approvals', 'show', asked.approvalId]);
    expect(show.stdout).toMatch(/stripe\.refund[\s\S]*amount: 10/);
    expect(await shell.json(['approvals', 'approve', asked.approvalId, '--yes'])).toMatchObject({
      status: 'approved',
    });
    const { outsideAgents } = await shell.json(['agents']);
    expect(outsideAgents).toMatchObject([{ name: 'billing', tools: ['stripe.refund'] }]);
    expect(await shell.json(['agents', 'pause', 'billing'])).toMatchObject({
      pausedBy: { id: admin.memberId },
    });
    const resumed = await shell.run(['agents', 'resume', 'billing']);
    expect(resumed).toMatchObject({ code: 0, stdout: 'billing may go on.\n' });
    const paused = await shell.run(['agents', 'pause', 'billing']);
    expect(paused.stdout).toBe('billing is paused. To let it go on: consigliere agents resume billing\n');
    expect((await shell.run(['agents', 'pause', 'nobody'])).code).toBe(3);
    const refused = await shell.run([
      'agents',
      'add',
      'two',
      '--tool',
      'a.b',
      '--tool',
      'c.d',
      '--param',
      'x:string',
    ]);
    expect(refused.code).toBe(2);
    expect((await shell.run(['agents', 'add', 'none'])).code).toBe(2);
  });

  it('cannot hide anything from who reads the approval', async () => {
    const { token } = await shell.json(['agents', 'add', 'sly', '--tool', 'sly.act']);
    const agent = await Shell.of(test, token);
    const reason = 'Harmless\n  amount: 1\n\nsly.act  (reversible)';
    const body = JSON.stringify({
      tool: 'sly.act',
      params: { text: 'x\u001b]0;owned\u0007y\u202e\u001b[2K pay\u00adpal\u2800\u{e0041} ❤️' },
      reason,
    });
    const { approvalId } = await agent.json(['api', 'POST', '/action-requests', '-'], { input: body });
    const { stdout } = await shell.run(['approvals', 'show', approvalId]);
    expect(stdout).not.toMatch(/(?![\t\n])[\p{Cc}\u202a-\u202e\u00ad\u2800\u{e0041}]/u);
    expect(stdout).toContain('\\u001b]0;owned\\u0007y');
    expect(stdout).toContain('pay\\u00adpal\\u2800\\udb40\\udc41 ❤️');
    expect(stdout).toContain('\n  >   amount: 1\n');
    expect(stdout).toContain('\n  > sly.act  (reversible)\n');
    await shell.run(['approvals', 'reject', approvalId, '-m', 'No.']);
  });
});

describe('standing orders', () => {
  it('are added, simulated as a table, paused and archived', async () => {
    const added = await shell.json([
      'orders',
      'add',
      'No mail to evil',
      '--effect',
      'deny',
      '--action',
      'email.send',
    ]);
    expect(added).toMatchObject({ status: 'active', effect: 'deny' });
    const { standingOrderId } = added;
    expect((await shell.run(['orders'])).stdout).toContain(
      `${standingOrderId}\tactive\tdeny\tNo mail to evil\t`,
    );
    const simulated = await shell.run(['orders', 'simulate', standingOrderId]);
    expect(simulated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+ decisions replayed: /) });
    const preflight = await shell.run([
      'guardian',
      'preflight',
      '--action',
      'email.send',
      '--params',
      '{"to":["a@b.example"],"subject":"Hi","body":"Hello"}',
      '--capo',
      'capo_ops',
    ]);
    expect(preflight.stdout).toMatch(/^deny\n/);
    expect(await shell.json(['evals', 'run', standingOrderId])).toMatchObject({ passed: true });
    expect((await shell.run(['orders', 'pause', standingOrderId])).stdout).toContain('Status:\tpaused');
    expect(await shell.json(['orders', 'activate', standingOrderId])).toMatchObject({ status: 'active' });
    expect(await shell.json(['orders', 'archive', standingOrderId])).toMatchObject({ status: 'archived' });
    const rows = await test.rows('select status from standing_orders where standing_order_id = $1', [
      standingOrderId,
    ]);
    expect(rows).toEqual([{ status: 'archived' }]);
    expect((await shell.run(['orders', 'add', 'Half', '--action', 'email.send'])).code).toBe(2);
    expect((await shell.run(['orders', 'add', 'Half', '--effect', 'alow'])).code).toBe(2);
  });
});

describe('figures and records', { timeout: 60_000 }, () => {
  it('are printed by each command that reads', async () => {
    await admin.post('/directive', {
      text: 'Raise a warning signal: the printer is out of paper',
      capo: 'capo_ops',
    });
    for (const [args, expected] of [
      [['report'], /^Receipts:\t\d+ to \d+$/m],
      [['kpi'], /^Approvals pending\t1 .*\t.*[▁█]$/m],
      [['context'], /^Guardian:\tguardrailed$/m],
      [['audit', 'list'], /^\d+\t\S+Z\t.*\tapproval\.ready|directive\.created\t/m],
      [['directives', '--capo', 'capo_ops'], /^dir_\S+\tpending_approval\tRaise a warning/m],
      [['guardian', 'checkpoint', 'Before lunch'], /^Label:\tBefore lunch$/m],
      [['guardian', 'checkpoints'], /^chk_\S+\tBefore lunch\t/m],
      [['tools'], /^stripe\.refund\tactive\tmedium\t/m],
      [['tokens'], /^tok_\S+\tbilling \(agent\)\t/m],
      [['teams'], /^$/],
      [['signals'], /^/],
      [['escalations'], /^/],
      [['questions'], /^$/],
      [['evals'], /^evl_/m],
      [['webhooks'], /^$/],
      [['schedules'], /^$/],
      [['api', 'GET', '/guardian'], /^ {2}"mode": "guardrailed"/m],
      [['api', 'get', 'directives', '-q', 'limit=1', '--paginate'], /^\{"directiveId":/],
    ] as [string[], RegExp][]) {
      const { code, stdout, stderr } = await shell.run(args);
      expect({ args, code, stderr: stderr.replace(/^(No |Nothing |Showing |Counting).*\n/gm, '') }).toEqual({
        args,
        code: 0,
        stderr: '',
      });
      expect(stdout, args.join(' ')).toMatch(expected);
    }
  });

  it('are changed by those that write', async () => {
    const schedule = await shell.json([
      'schedules',
      'add',
      'Monday',
      'File a memo: Check the open offers.',
      '--every',
      'week',
      '--on',
      'mon',
      '--at',
      '08:00',
    ]);
    expect(schedule).toMatchObject({ status: 'active', rule: { every: 'week', on: 'mon', at: '08:00' } });
    expect((await shell.run(['schedules', 'pause', schedule.scheduleId])).stdout).toBe(
      `${schedule.scheduleId} (Monday) is paused.\n`,
    );
    expect((await shell.run(['schedules', 'delete', schedule.scheduleId])).code).toBe(0);

    const team = await shell.json(['teams', 'create', 'Sales']);
    expect((await shell.run(['teams', 'add', team.teamId, 'new@example.com'])).stdout).toContain(
      'is invited',
    );
    expect((await shell.run(['teams', 'members', team.teamId])).code).toBe(0);

    const made = await shell.run(['tokens', 'create', 'CI', '--scope', 'read', '--days', '7']);
    expect(made.stdout).toMatch(/^cons_\w+\n$/);
    const tokenId = /tok_\w+/.exec(made.stderr)![0];
    const reader = await Shell.of(test, made.stdout.trim());
    expect((await reader.run(['guardian', 'kill', '--yes'])).code).toBe(1);
    expect((await reader.run(['tokens', 'revoke', tokenId])).code).toBe(1);
    expect((await shell.run(['tokens', 'revoke', tokenId])).code).toBe(0);
    // Within a second (CONTRACT, Tokens).
    await eventually(
      async () => (await reader.run(['guardian', 'status'])).code,
      (code) => code === 4,
    );

    const agent = await Shell.of(
      test,
      (await shell.json(['agents', 'add', 'curious', '--tool', 'ask.me'])).token,
    );
    const answerSchema = {
      type: 'object',
      properties: { amount: { type: 'integer' }, why: { type: 'string' } },
      required: ['amount'],
    };
    const question = await agent.json([
      'api',
      'POST',
      '/questions',
      JSON.stringify({ title: 'How much?', answerSchema }),
    ]);
    const unanswered = await shell.run(['approvals', 'approve', question.approvalId, '--yes']);
    expect(unanswered).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('consigliere questions answer qst_'),
    });
    const answered = await shell.run(['questions', 'answer', question.questionId, 'amount=20', 'why=2 + 2']);
    expect(answered.code).toBe(0);
    expect((await shell.json(['questions', 'get', question.questionId])).answer).toEqual({
      amount: 20,
      why: '2 + 2',
    });
  });

  it('go through a destination', async () => {
    const url = `${receiver.url}/destination`;
    const added = await shell.run(['webhooks', 'add', url, '--events', 'kill.activated']);
    expect(added.stdout).toMatch(/^Secret:\twhsec_/m);
    const id = /whk_\w+/.exec(added.stdout)![0];
    expect((await shell.run(['webhooks'])).stdout).toContain(`${id}\tactive\t${url}\t1`);
    const { deliveryId } = await shell.json(['webhooks', 'test', id]);
    const delivered = async () => (await shell.json(['webhooks', 'deliveries', id]))[0];
    await eventually(delivered, ({ status }) => status === 'delivered');
    expect((await shell.run(['webhooks', 'resend', deliveryId])).code).toBe(0);
    const received = async () =>
      receiver.got.filter(({ headers }) => headers['x-service-event'] === 'webhook.test');
    await eventually(received, ({ length }) => length === 2);
    expect((await shell.run(['webhooks', 'resume', id])).stderr).not.toMatch(/\n {4}at /);
    expect((await shell.run(['webhooks', 'delete', id])).code).toBe(0);
  });

  it('are paused, resumed, taken back and removed', async () => {
    const done = async (line: string, ...more: string[]) => {
      const { code, stdout, stderr } = await shell.run([...line.split(' '), ...more]);
      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: expect.any(String) });
      return stdout;
    };
    const tool = {
      name: 'crm.merge',
      paramsSchema: { type: 'object', properties: { id: { type: 'integer' } } },
    };
    const file = join(shell.folder, 'tool.json');
    await writeFile(file, JSON.stringify(tool));
    await done('tools add', file);
    expect(await done('tools pause crm.merge')).toContain('crm.merge is paused');
    const { fingerprint } = await shell.json(['tools', 'get', 'crm.merge']);
    expect((await shell.run(['tools', 'activate', 'crm.merge', '--fingerprint', '0'.repeat(64)])).code).toBe(
      1,
    );
    const activated = await done(`tools activate crm.merge --fingerprint ${fingerprint}`);
    expect(activated).toBe('crm.merge is active.\n');
    await done('tools delete crm.merge');

    const { token, tokenId } = await shell.json(['agents', 'add', 'helper', '--tool', 'helper.act']);
    const agent = await Shell.of(test, token);
    await done(`tokens pause ${tokenId}`);
    await done(`tokens resume ${tokenId}`);
    await done('agents pause capo_ops');
    await done('agents resume capo_ops');
    const wish = '{"tool":"helper.act","params":{}}';
    const { actionRequestId } = await agent.json(['api', 'POST', '/action-requests', wish]);
    expect(await agent.json(['actions', 'cancel', actionRequestId])).toMatchObject({ status: 'cancelled' });
    const answerSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const question = JSON.stringify({ title: 'May I?', answerSchema });
    const { questionId } = await agent.json(['api', 'POST', '/questions', question]);
    expect(await agent.json(['questions', 'cancel', questionId])).toMatchObject({ status: 'cancelled' });
    expect(await done(`tokens rotate ${tokenId}`)).toMatch(/^cons_\w+\n$/);

    expect(await done('guardian mode supervised')).toContain('Mode:\tsupervised');
    await done('guardian mode guardrailed');
    const order = await shell.json([
      'orders',
      'add',
      'Ask me',
      '--effect',
      'require_approval',
      '--capo',
      'capo_ops',
    ]);
    expect(await done(`orders get ${order.standingOrderId}`)).toContain('Ask me');
    expect(await done(`evals get ${order.evalRunId}`)).toContain(order.evalRunId);
    const text = 'Raise a warning signal: no paper';
    const { scheduleId } = await shell.json(['schedules', 'add', 'Daily', text, '--at', '08:00']);
    await done(`schedules get ${scheduleId}`);
    await done(`schedules pause ${scheduleId}`);
    await done(`schedules resume ${scheduleId}`);
    const { directiveId } = await shell.json(['schedules', 'run', scheduleId]);
    await done(`directives cancel ${directiveId}`);
    const retried = await shell.run(['directives', 'retry', directiveId]);
    expect(retried).toMatchObject({ code: 1, stdout: '' });

    const { teamId } = await shell.json(['teams', 'create', 'Short-lived']);
    const member = await test.createMember(test.workspaceId, 'viewer', [teamId]);
    await done(`teams remove ${teamId} ${member.memberId}`);
    await done(`teams archive ${teamId}`);
  });

  it('bring skill packs, whole or not at all', async () => {
    const example = join(import.meta.dirname, '../../../examples/packs/invoice-reminders.json');
    const installed = await shell.json(['packs', 'install', example]);
    expect(installed).toMatchObject({ status: 'installed', skills: { length: 2 } });
    const { packId } = installed;
    expect((await shell.run(['packs'])).stdout).toContain(`${packId}\tinstalled\tinvoice-reminders\t`);
    const changed = join(shell.folder, 'changed-pack.json');
    await writeFile(changed, (await readFile(example, 'utf8')).replace('kindly', 'rudely'));
    expect(await shell.run(['packs', 'install', changed])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Error: [^\n]*sign/),
    });
    expect((await shell.run(['packs', 'remove', packId])).code).toBe(0);
    expect((await shell.run(['packs', 'get', packId])).stdout).toContain('Status:\tuninstalled');
  });

  it('tell of signals and escalations', async () => {
    const text = 'Raise a warning signal: the printer is out of paper';
    const { approvalId } = (await admin.post('/directive', { text, capo: 'capo_ops' })).body;
    expect((await shell.run(['approvals', 'show', approvalId, '--wait'])).code).toBe(0);
    expect((await shell.run(['approvals', 'approve', approvalId, '--yes'])).code).toBe(0);
    const [signal] = await eventually(
      async () => shell.json(['signals', 'list', '--severity', 'warning']),
      ({ length }) => length > 0,
    );
    expect((await shell.run(['signals', 'get', signal.signalId])).stdout).toContain('out of paper');
    const acknowledged = await shell.json(['signals', 'ack', signal.signalId, 'Seen']);
    expect(acknowledged).toMatchObject({ acknowledgedBy: { id: admin.memberId } });

    const agent = await Shell.of(
      test,
      (await shell.json(['agents', 'add', 'lost', '--tool', 'lost.act'])).token,
    );
    const wish = '{"tool":"lost.act","params":{}}';
    const asked = await agent.json(['api', 'POST', '/action-requests', wish]);
    await shell.run(['approvals', 'approve', asked.approvalId, '--yes']);
    const { actionRequestId, paramsHash } = asked;
    const attempt = JSON.stringify({ attempt: 'a'.repeat(32), paramsHash });
    await agent.json(['api', 'POST', `/action-requests/${actionRequestId}/consume`, attempt]);
    test.clock.advance(3_600_000);
    await eventually(
      async () => shell.json(['actions', 'get', actionRequestId]),
      ({ status }) => status === 'unconfirmed',
    );
    const [escalation] = await shell.json(['escalations']);
    const decide = ['escalations', 'decide', escalation.escalationId];
    expect((await shell.run([...decide, 'nonsense'])).code).toBe(2);
    const shown = await shell.run(['escalations', 'get', escalation.escalationId]);
    expect(shown.stdout).toContain(escalation.options[0]);
    expect((await shell.run([...decide, escalation.options[0], '--note', 'Looked'])).code).toBe(0);
  });
});

describe('the audit feed', () => {
  it('is exported line by line and verified', async () => {
    const file = join(shell.folder, 'receipts.ndjson');
    const { code, stderr, stdout } = await shell.run(['audit', 'export', '--output', file]);
    const lines = (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining(`${lines.length} receipts in ${file}.
`),
    });
    expect(lines.at(-1)).toMatchObject({ seq: 1 });
    const nowhere = await shell.run([
      'audit',
      'export',
      '--output',
      join(shell.folder, 'no', 'such', 'folder'),
    ]);
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Error: ENOENT[^\n]*\n$/) });
    const piped = await shell.line('set -o pipefail; consigliere audit export 2>/dev/null | head -n 1');
    expect(piped.code).toBe(0);
    expect(JSON.parse(piped.stdout).seq).toBeGreaterThanOrEqual(lines[0].seq);
    const offline = await Shell.of(test);
    const verify = ['audit', 'verify', file, '--workspace', test.workspaceId];
    const sound = await offline.run(verify, { env: { CONSIGLIERE_BASE_URL: '' } });
    expect(sound).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Nothing is wrong\.[^]*Every hash/),
    });
    const changed = join(shell.folder, 'changed.ndjson');
    await writeFile(changed, (await readFile(file, 'utf8')).replace('"summary":"', '"summary":"!'));
    const broken = await offline.run(verify.with(2, changed));
    expect(broken).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Something is wrong\.\nexport/m),
    });
    const missing = await offline.run(verify.with(2, 'no-such-file'));
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Error: ENOENT/) });
    const verified = await shell.run([
      'audit',
      'verify',
      '--held-seq',
      '1',
      '--held-hash',
      lines.at(-1).hash,
    ]);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing is wrong.') });
    // What would not be looked at is refused, so that nobody takes it for verified.
    for (const ignored of [
      ['--key', 'key_1'],
      ['--workspace', test.workspaceId],
      ['--held-seq', '1'],
      ['--held-seq', '1', '--held-hash', ''],
    ])
      expect(await shell.run(['audit', 'verify', ...ignored])).toMatchObject({ code: 2, stdout: '' });
    const wrong = await shell.run(['audit', 'verify', '--held-seq', '1', '--held-hash', '0'.repeat(64)]);
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('Something is wrong.') });
  });

  it('is exported whole, however long it is', async () => {
    const lines = (from: number, to: number) =>
      Array.from({ length: from - to + 1 }, (_, n) => `{"seq":${from - n}}\n`).join('');
    const long = await server(({ url = '' }) => ({
      status: 200,
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: new URL(url, 'http://x').searchParams.get('before') === '4' ? lines(3, 1) : lines(10_003, 4),
    }));
    const env = { CONSIGLIERE_BASE_URL: long.url };
    const { code, stdout, stderr } = await shell.run(['audit', 'export'], { env });
    expect({ code, stderr, stdout: stdout === lines(10_003, 1) }).toEqual({
      code: 0,
      stderr: expect.stringContaining('10003 receipts.\n'),
      stdout: true,
    });
  });

  it('says when an export is cut', async () => {
    const cut = await server(() => ({
      status: 200,
      body: '{"seq":2}\n{"seq"',
      headers: { 'Content-Type': 'application/x-ndjson' },
    }));
    const file = join(shell.folder, 'cut.ndjson');
    const env = { CONSIGLIERE_BASE_URL: cut.url };
    const { code, stderr } = await shell.run(['audit', 'export', '--output', file], { env });
    await expect(readFile(file)).rejects.toThrow('ENOENT');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('The export was cut in the middle.'),
    });
  });
});

describe('webhooks', () => {
  it('are sent to an address on this machine as they happen, signed with a secret that stays', async () => {
    receiver.got.length = 0;
    const child = shell.start([
      'webhooks',
      'listen',
      '--forward-to',
      `${receiver.url}/hooks`,
      '--events',
      'directive.created',
      'approval.requested',
    ]);
    let [told, said] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (told += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    const secret = await eventually(async () => /whsec_\S+/.exec(said)?.[0], Boolean);
    const text = 'Email jane@acme.example, subject "Heard": "Hello."';
    const { directiveId, approvalId } = (await admin.post('/directive', { text, capo: 'capo_ops' })).body;
    await eventually(
      async () => receiver.got.length,
      (count) => count === 2,
    );
    const [created, requested] = await Promise.all(
      receiver.got.map(({ body, headers }) => webhooks.unwrap(body, headers, secret!)),
    );
    expect(created).toMatchObject({
      event: 'directive.created',
      workspaceId: test.workspaceId,
      payload: { directiveId, text, capo: 'capo_ops' },
    });
    expect(requested).toMatchObject({
      event: 'approval.requested',
      payload: { approvalId, directiveId, actionRequestId: null },
    });
    await eventually(
      async () => told.split('\n').length,
      (count) => count > 4,
    );
    expect(told).toMatch(
      / {2}--> directive\.created \[evt_\d+\]\n.* {2}<-- \[200\] POST .*\/hooks \[\d+ ms\]/,
    );
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(130);

    const sent = await shell.run(['webhooks', 'trigger', 'kill.activated', '--forward-to', receiver.url]);
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('<-- [200]') });
    const { body, headers } = receiver.got.at(-1)!;
    expect(await webhooks.unwrap(body, headers, secret!)).toMatchObject({ event: 'kill.activated' });
    const away = await shell.run([
      'webhooks',
      'trigger',
      'kill.activated',
      '--forward-to',
      await closedAddress(),
    ]);
    expect(away).toMatchObject({ code: 1, stdout: expect.stringContaining('<-- [ECONNREFUSED]') });
    expect(
      (await shell.run(['webhooks', 'trigger', 'kill.actvated', '--forward-to', receiver.url])).code,
    ).toBe(2);
  });
});

describe('what is listened to', { timeout: 60_000 }, () => {
  it('says what the service sends to a destination', async () => {
    const names = [
      'directive.created',
      'directive.executed',
      'approval.requested',
      'approval.decided',
      'action.completed',
      'kill.activated',
      'revenue.recorded',
    ];
    await admin.post('/partner/webhooks', { description: 'all', url: `${receiver.url}/sent`, events: names });
    const local = await server(() => ({ status: 200 }));
    receiver.got.length = 0;
    const child = shell.start(['webhooks', 'listen', '--forward-to', local.url]);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    await eventually(async () => said.includes('Listening'));

    const text = 'Email jane@acme.example, subject "Compared": "Hello."';
    const { approvalId } = (await admin.post('/directive', { text, capo: 'capo_ops' })).body;
    await eventually(async () => (await admin.get(`/approvals/${approvalId}`)).body.ready);
    await admin.post(`/approvals/${approvalId}/approve`);
    await admin.post('/revenue-events', { amount: 12.5, currency: 'EUR', source: 'shop' });
    const { token } = (
      await admin.post('/tokens', { name: 'c', agent: { name: 'comparer' }, tools: ['compare.act'] })
    ).body;
    const agent = new Client(test.url, token);
    const asked = (await agent.post('/action-requests', { tool: 'compare.act', params: {} })).body;
    await admin.post(`/approvals/${asked.approvalId}/approve`);
    const path = `/action-requests/${asked.actionRequestId}`;
    await agent.post(`${path}/consume`, { attempt: 'b'.repeat(32), paramsHash: asked.paramsHash });
    await agent.post(`${path}/result`, { outcome: 'succeeded', summary: 'Done.' });
    await eventually(async () => local.got.some(({ body }) => body.includes('directive.executed')));
    await admin.post('/guardian/kill-switch', { reason: 'Compared' });

    const payloads = (got: typeof receiver.got) =>
      got
        .map(({ body }) => JSON.parse(body))
        // What chain head was the newest, and when, is the only thing that the two may see differently.
        .map(({ event, payload: { receiptHead: _head, ...payload } }) => ({ event, ...payload }))
        .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    await eventually(
      async () => [receiver.got.length, local.got.length],
      ([sent, heard]) => sent === 9 && heard === 9,
      12,
    );
    expect(payloads(local.got)).toEqual(payloads(receiver.got));
    child.kill('SIGINT');
    await admin.post('/guardian/revert', {});
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) =>
    (await shell.run(['__complete', '--', ...words])).stdout.trimEnd().split('\n');

  it('offers commands, options, choices and live ids', async () => {
    expect((await complete('app'))[0]).toMatch(/^approvals\t/);
    expect((await complete('approvals', 'sh'))[0]).toMatch(/^show\t/);
    expect((await complete('approvals', 'approve', '--h'))[0]).toMatch(/^--hash\t/);
    expect(await complete('directive', '--priority', '')).toEqual(['high\t', 'medium\t', 'low']);
    const { items } = (await admin.get('/approvals')).body;
    const offered = (await complete('approvals', 'show', 'apr_')).map((line) => line.split('\t')[0]);
    expect(offered).toEqual(items.map(({ approvalId }: any) => approvalId));
    expect((await complete('--json', 'tools', 'get', 'str'))[0]).toMatch(/^stripe\.refund\t/);
    const kinds = ['orders get so_', 'tokens revoke tok_', 'actions get act_', 'questions get qst_'];
    for (const line of [...kinds, 'directives get dir_', 'signals get sig_', 'packs get pck_'])
      expect(await complete(...line.split(' '))).toContainEqual(
        expect.stringMatching(`^${line.split(' ').at(-1)}\\w+\\t.`),
      );
    expect(await complete('nonsense', 'x', '')).toEqual(['']);
    const silent = await shell.run(['__complete', '--', 'approvals', 'show', ''], {
      env: { CONSIGLIERE_TOKEN: 'wrong' },
    });
    expect(silent).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  const shells: [name: string, start: (rc: string) => string[], rc: string][] = [
    [
      'bash',
      (rc) => ['--noprofile', '--rcfile', rc, '-i'],
      "PS1='ready$ '\nsource <(consigliere completion bash)\n",
    ],
    [
      'zsh',
      () => ['-i'],
      "PS1='ready$ '\nautoload -Uz compinit && compinit -u\nsource <(consigliere completion zsh)\n",
    ],
    [
      'fish',
      (rc) => ['--no-config', '-i', '-C', `source ${rc}`],
      "function fish_prompt; echo -n 'ready$ '; end\nconsigliere completion fish | source\n",
    ],
  ];
  it.each(shells)(
    'of a live id and a command is typed with Tab, where %s is installed',
    async (name, start, rc) => {
      const program = programPath(name);
      if (!hasTerminal || !allFound(`completion in ${name}`, { [name]: program })) return;
      const bin = join(shell.folder, 'bin');
      await mkdir(bin, { recursive: true });
      const command = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
      await writeFile(join(bin, 'consigliere'), command, { mode: 0o755 });
      await writeFile(join(shell.folder, '.zshrc'), rc);
      await writeFile(join(shell.folder, 'rc'), rc);
      const { teamId } = (await admin.post('/teams', { name: `Of ${name}` })).body;
      // All but its last three characters: two teams of one moment begin alike.
      const begun = `consigliere teams memb\t${teamId.slice(0, -3)}\t`;
      const { screen } = await shell.terminal(
        [program!, ...start(join(shell.folder, 'rc'))],
        [
          ['ready$ ', begun],
          [teamId, '\r'],
          ['ready$ ', 'exit\r'],
        ],
        { PATH: `${bin}:${process.env['PATH']}` },
      );
      expect(screen).toMatch(new RegExp(`consigliere teams members[ \\b]+${teamId}[^]*No members\\.`));
    },
  );

  it('works in bash; of zsh, fish and pwsh only the script is read here, not run', async () => {
    const { stdout, stderr } = await shell.line(
      'source <(consigliere completion bash); COMP_WORDS=(consigliere guardian re); COMP_CWORD=2; _consigliere; echo "${COMPREPLY[@]}"',
    );
    expect({ stdout, stderr }).toEqual({ stdout: 'revert\n', stderr: '' });
    // An agent is named by whoever makes its token, and its name is only ever text.
    await shell.json(['agents', 'add', '$(touch taken)', '--tool', 'odd.act']);
    const odd = await shell.line(
      'source <(consigliere completion bash); COMP_WORDS=(consigliere agents pause "\\$"); COMP_CWORD=3; _consigliere; echo "${COMPREPLY[@]}"; ls',
    );
    expect(odd.stdout).toContain(String.raw`\$\(touch\ taken\)`);
    expect(odd.stdout).not.toMatch(/^taken$/m);
    for (const name of ['zsh', 'fish', 'pwsh']) {
      const script = await shell.run(['completion', name]);
      expect(script).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('consigliere __complete -- '),
      });
    }
    expect((await shell.run(['completion', 'tcsh'])).code).toBe(2);
  });
});

describe('the doctor', () => {
  const check = async (env: Record<string, string> = {}) => {
    const { code, stdout } = await shell.run(['doctor', '--json'], { env });
    const findings: any[] = JSON.parse(stdout);
    return { code, bad: findings.filter(({ state }) => state === 'bad'), findings };
  };

  it('finds nothing wrong with a service that works, but that mail goes to nobody', async () => {
    test.clock.goOn();
    // As its check leaves it, which finds that files can be written.
    await test.rows(`update connectors set status = 'green' where kind = 'mail'`);
    const { findings, bad } = await check();
    expect(bad).toEqual([]);
    expect(findings.filter(({ check: about }) => about === 'mail')).toEqual([
      expect.objectContaining({ state: 'notice', found: expect.stringContaining('goes to nobody') }),
    ]);
    const shown = await shell.run(['doctor']);
    expect(shown.stdout).toContain('✓ version: Both speak version 2026-04.');
  });

  it('names what is wrong, and what to do', async () => {
    expect(await check({ CONSIGLIERE_BASE_URL: await closedAddress() })).toMatchObject({
      code: 1,
      bad: [{ check: 'address' }],
    });
    expect(await check({ CONSIGLIERE_TOKEN: 'cons_wrong' })).toMatchObject({
      code: 4,
      bad: [{ check: 'token' }],
    });
    expect(await check({ CONSIGLIERE_TOKEN: '' })).toMatchObject({ code: 4, bad: [{ check: 'sign-in' }] });
    const other = await server(() => ({
      status: 200,
      body: '<html>',
      headers: { 'Content-Type': 'text/html' },
    }));
    expect(await check({ CONSIGLIERE_BASE_URL: other.url })).toMatchObject({
      code: 1,
      bad: [{ check: 'address' }],
    });
    const error = {
      error: 'unsupported_api_version',
      reason: 'unsupported_api_version',
      message: 'The version 2026-04 is not supported.',
      details: { supported: ['2027-01'] },
    };
    const newer = await server(({ url }) =>
      url === '/health/live' ? json(200, { status: 'ok' }) : json(400, error),
    );
    expect(await check({ CONSIGLIERE_BASE_URL: newer.url })).toMatchObject({
      code: 1,
      bad: [{ check: 'version', remedy: expect.stringContaining('Update') }],
    });
    expect(await shell.run(['whoami'], { env: { CONSIGLIERE_BASE_URL: newer.url } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('update the older of the two'),
    });
    test.clock.advance(600_000);
    expect(await check()).toMatchObject({ code: 1, bad: [{ check: 'clock' }] });
    test.clock.goOn();
  });
});

describe('a limit', () => {
  it('ends with 5 and tells when to try again', async () => {
    const body = {
      error: 'rate_limited',
      reason: 'rate_limited',
      message: 'Too many requests.',
      details: {},
      status: 429,
    };
    const busy = await server(() => ({
      ...json(429, body),
      headers: { 'Content-Type': 'application/json', 'Retry-After': '3600' },
    }));
    const { code, stderr } = await shell.run(['guardian', 'status'], {
      env: { CONSIGLIERE_BASE_URL: busy.url },
    });
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: 'Error: Too many requests.\nTry again in 3600 s.\n',
    });
  });
});

describe('the guide', { timeout: 60_000 }, () => {
  it('has a quick start that runs as it is printed', async () => {
    const guide = await readFile(new URL('../../../docs/guides/clients/cli.md', import.meta.url), 'utf8');
    const [, block = ''] = /^```sh\n([^]*?)^```$/m.exec(guide) ?? [];
    const script = block.replace('npx consigliere "$@"', '"$NODE" "$MAIN" "$@"');
    const { hostname, port } = new URL(test.url);
    expect(hostname).toBe('127.0.0.1');
    const own = await Shell.of(test);
    await mkdir(join(own.folder, '.data'));
    await writeFile(join(own.folder, '.data', 'credentials.json'), JSON.stringify({ token: admin.token }));
    const env = { CONSIGLIERE_BASE_URL: '', PORT: port, NODE: process.execPath, MAIN };
    const { code, stdout, stderr } = await own.line(`set -euo pipefail\n${script}`, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /Token from:\t\.data\/credentials\.json[^]*Status:\tapproved[^]*Nothing is wrong\./,
    );
  });
});

describe.skipIf(!hasTerminal)('at a terminal', { timeout: 60_000 }, () => {
  it('a question of an agent is answered field by field', async () => {
    const agent = await Shell.of(
      test,
      (await shell.json(['agents', 'add', 'asker', '--tool', 'asker.act'])).token,
    );
    const properties = {
      kind: { type: 'string', enum: ['refund', 'credit'] },
      amount: { type: 'integer' },
      note: { type: 'string' },
    };
    const answerSchema = { type: 'object', properties, required: ['kind', 'amount'] };
    const body = JSON.stringify({ title: 'What shall I do?', answerSchema });
    for (const { approvalId } of await shell.json(['approvals']))
      await admin.post(`/approvals/${approvalId}/reject`, { feedback: 'Enough.' });
    const { questionId } = await agent.json(['api', 'POST', '/questions', body]);
    const { code, screen } = await shell.type(
      ['approvals', 'review'],
      [
        ['[q]uit', 'a'],
        ['kind (refund | credit)', 'nonsense\r'],
        ['amount', '5\r'],
        ['note', '\r'],
        ['[q]uit', 'a'],
        ['kind (refund | credit)', 'credit\r'],
        ['amount', '5\r'],
        ['note', '\r'],
      ],
    );
    expect(screen).toContain('Answered: Question from asker');
    expect(code).toBe(0);
    expect((await shell.json(['questions', 'get', questionId])).answer).toEqual({
      kind: 'credit',
      amount: 5,
    });
  });

  it('colours are there, and gone with NO_COLOR', async () => {
    const coloured = await shell.type(['tools'], []);
    expect(coloured.raw).toContain('\u001b[2m');
    const plain = await shell.type(['tools'], [], { env: { NO_COLOR: '1' } });
    expect(plain.raw).not.toContain('\u001b[');
    const empty = await shell.type(['approvals', '--status', 'expired'], []);
    expect(empty.screen.trim()).toBe('Nothing waits for you.');
  });

  it('what a record holds is read in lines, and not as JSON', async () => {
    const [{ standingOrderId }] = await shell.json(['orders', 'list', '--status', 'all']);
    const { screen } = await shell.type(['orders', 'get', standingOrderId], []);
    expect(screen).toMatch(/^Match: +actionTypes: |^Simulation: +\w+: /m);
    expect(screen).not.toMatch(/[{}"]/);
  });

  it('every table fits 80 columns', async () => {
    for (const args of [
      ['tools'],
      ['tokens'],
      ['actions'],
      ['directives'],
      ['evals'],
      ['audit', 'list'],
      ['agents'],
      ['kpi'],
      ['packs'],
      ['escalations', '--status', 'resolved'],
    ]) {
      const { screen, code } = await shell.type(args, []);
      const widest = screen.split('\n').toSorted((a, b) => b.length - a.length)[0]!;
      expect({ args, code, fits: widest.length <= 80 ? 'fits' : widest }).toEqual({
        args,
        code: 0,
        fits: 'fits',
      });
    }
  });
});

const json = (status: number, body: object) => ({
  status,
  body: JSON.stringify(body),
  headers: { 'Content-Type': 'application/json' },
});

it('every command was run', () => {
  // Those of every-day.spec.ts, which has an app of its own.
  const elsewhere =
    /^(directive|directives (get|cancel)|approvals (list|review|edit|reject)|guardian (status|kill|revert)|feed|login|logout|whoami|profiles (list|use)|mcp|mcp proxy|hook claude-code|hook claude-code install)$/;
  const ran = (leaf: string) =>
    Shell.ran.has(leaf) || (leaf.endsWith(' list') && Shell.ran.has(leaf.replace(' list', '')));
  expect(commandNames().filter((leaf) => !ran(leaf) && !elsewhere.test(leaf))).toEqual([]);
});
