import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { commandNames, hasTerminal, Shell } from './terminal.js';

let test: TestApp;
let owner: TestMember;
let shell: Shell;
const driven = new Set<string>();

/** Takes what is sent to a destination. */
const receiver = createServer((_request, response) => response.end());

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  test = await startTestApp({
    OUTBOUND_ALLOW: `127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    SKILL_PACK_PUBLISHERS: 'consigliere-examples=E7-z8esuOAy4-IOeSI-bQ1RGmFDT15_fJeH6LXyyEc4',
  });
  owner = await test.createMember(test.workspaceId, 'owner');
  shell = await Shell.of(test, owner.token);
});
afterAll(async () => {
  receiver.close();
  await test?.close();
});

interface Driven {
  steps?: [seen: string, typed: string][];
  code?: number;
  env?: Record<string, string>;
}

/** A command in a pseudo-terminal of 80 columns. */
async function typed(args: string[], { steps = [], code = 0, env = {} }: Driven = {}): Promise<string> {
  driven.add(args.slice(0, 2).join(' ')).add(args[0]!);
  const { code: ended, screen, raw } = await shell.type(args, steps, { env });
  expect({ args, ended, screen }).toMatchObject({ args, ended: code });
  // Drawn again means a line of its own. What has no space in it, such as a hash, cannot be broken.
  const lines = raw
    // oxlint-disable-next-line no-control-regex -- exactly these are left out
    .replace(/\u001b\[[\d;]*m/g, '')
    // oxlint-disable-next-line no-control-regex -- what moves the cursor
    .split(/[\r\n]|\u001b\[[\d;?]*[A-Za-z]/);
  const wide = lines.filter((one) => one.length > 80 && !/\S{40}/.test(one));
  expect({ args, wide }).toEqual({ args, wide: [] });
  return screen;
}
const line = (text: string, more?: Driven) => typed(text.split(' '), more);

describe.skipIf(!hasTerminal)('at a terminal', { timeout: 120_000 }, () => {
  it('work is handed in, decided, read, counted and proven', async () => {
    const mail = 'Email jane@acme.example, subject "Your order": "It ships on Friday."';
    await typed(['directive', mail, '--capo', 'capo_ops']);
    await line('directives list');
    const [{ directiveId, approvalId }] = (await owner.get('/directives')).body.items;
    await line(`approvals show ${approvalId} --wait`);
    await line('approvals list');
    await line(`approvals edit ${approvalId}`, { env: { EDITOR: 'true' } });
    await line(`approvals approve ${approvalId}`, { steps: [['Approve exactly this?', 'y']] });
    await eventually(
      async () => (await owner.get(`/directives/${directiveId}`)).body.status,
      (status) => status === 'executed',
    );
    expect(await line(`directives get ${directiveId}`)).toContain('It ships on Friday.');
    await line(`directives retry ${directiveId}`, { code: 1 });
    await typed(['directive', mail, '--capo', 'capo_ops']);
    const [next] = (await owner.get('/directives')).body.items;
    await line(`directives cancel ${next.directiveId}`);
    await typed(['directive', mail, '--capo', 'capo_ops']);
    await eventually(async () => (await owner.get('/approvals')).body.items[0]?.ready, Boolean);
    await line('approvals review', { steps: [['[q]uit', 's']] });
    const [waiting] = (await owner.get('/approvals')).body.items;
    await line(`approvals reject ${waiting.approvalId}`, { steps: [['Why?', 'Not today.\r']] });

    const text = 'Raise a warning signal: the printer is out of paper';
    await typed(['directive', text, '--capo', 'capo_ops']);
    const [raised] = (await owner.get('/directives')).body.items;
    await eventually(async () => (await owner.get(`/approvals/${raised.approvalId}`)).body.ready, Boolean);
    await line(`approvals approve ${raised.approvalId} --yes`);
    const [signal] = await eventually(
      async () => (await owner.get('/signals')).body.items,
      ({ length }) => length > 0,
    );
    await line('signals list');
    await line(`signals get ${signal.signalId}`);
    await line(`signals ack ${signal.signalId}`);

    for (const one of ['feed', 'report', 'kpi', 'context', 'audit list', 'whoami', 'doctor']) await line(one);
    const file = join(shell.folder, 'receipts.ndjson');
    await line(`audit export --output ${file}`);
    expect(await line(`audit verify ${file} --workspace ${test.workspaceId}`)).toContain('Nothing is wrong.');
    await line('api GET /guardian');
    const script = await shell.type(['completion', 'bash'], []);
    expect(script.screen).toContain('complete -o default');
  });

  it('the guardian stops, goes on and foresees', async () => {
    await line('guardian status');
    await line('guardian mode supervised');
    await line('guardian mode guardrailed');
    await line('guardian checkpoint lunch');
    await line('guardian checkpoints');
    await typed(['guardian', 'preflight', 'Email jane@acme.example, subject "Hi": "Hello."']);
    await line('guardian kill', { steps: [['Type HALT', 'HALT\r']] });
    await line('guardian revert');
    expect((await owner.get('/guardian')).body.mode).toBe('guardrailed');
  });

  it('orders, schedules and packs are kept', async () => {
    await typed(['orders', 'add', 'No mail', '--effect', 'deny', '--action', 'email.send']);
    const [{ standingOrderId }] = (await owner.get('/standing-orders')).body.items;
    for (const verb of ['get', 'simulate', 'pause', 'activate'])
      await line(`orders ${verb} ${standingOrderId}`);
    await line('orders list');
    await line(`evals run ${standingOrderId}`);
    await line('evals list');
    const [{ evalRunId }] = (await owner.get('/evals')).body.items;
    await line(`evals get ${evalRunId}`);
    await line(`orders archive ${standingOrderId}`);

    await line(
      `packs install ${join(import.meta.dirname, '../../../examples/packs/invoice-reminders.json')}`,
    );
    await line('packs list');
    const [{ packId }] = (await owner.get('/skill-packs')).body.items;
    await line(`packs get ${packId}`);
    await line(`packs remove ${packId}`);

    await typed(['schedules', 'add', 'Daily', 'Raise a warning signal: no paper', '--at', '08:00']);
    await line('schedules list');
    const [{ scheduleId }] = (await owner.get('/schedules')).body.items;
    for (const verb of ['get', 'pause', 'resume', 'run', 'delete'])
      await line(`schedules ${verb} ${scheduleId}`);
    expect(await test.rows('select status from standing_orders')).toContainEqual({ status: 'archived' });
    expect((await owner.get('/schedules')).body.items).toEqual([]);
  });

  it('agents ask, are answered and stopped', async () => {
    await line('agents add billing --tool stripe.refund --param amount:integer');
    await line('agents list');
    await line('agents pause billing');
    await line('agents resume billing');
    const { token } = await shell.json(['agents', 'add', 'helper', '--tool', 'helper.act']);
    const agent = new Client(test.url, token);
    const ask = async () => (await agent.post('/action-requests', { tool: 'helper.act', params: {} })).body;
    const { actionRequestId, approvalId, paramsHash } = await ask();
    await line('actions list');
    await line(`actions get ${actionRequestId}`);
    await line(`approvals show ${approvalId}`);
    const { actionRequestId: other } = await ask();
    await line(`actions cancel ${other}`);

    const answerSchema = {
      type: 'object',
      properties: { amount: { type: 'integer' } },
      required: ['amount'],
    };
    const question = async () => (await agent.post('/questions', { title: 'How much?', answerSchema })).body;
    const [first, second] = [await question(), await question()];
    await line('questions list');
    await line(`questions get ${first.questionId}`);
    await line(`questions answer ${first.questionId} amount=20`);
    await line(`questions cancel ${second.questionId}`);

    // An action of which nobody knows the outcome is escalated.
    await line(`approvals approve ${approvalId} --yes`);
    await agent.post(`/action-requests/${actionRequestId}/consume`, { attempt: 'a'.repeat(32), paramsHash });
    test.clock.advance(3_600_000);
    const [escalation] = await eventually(
      async () => (await owner.get('/escalations')).body.items,
      ({ length }) => length > 0,
    );
    await line('escalations list');
    await line(`escalations get ${escalation.escalationId}`);
    await line(`escalations decide ${escalation.escalationId} ${escalation.options[0]}`);
    expect((await owner.get('/escalations')).body.items).toEqual([]);
  });

  it('tools, teams and tokens are kept', async () => {
    const file = join(shell.folder, 'tool.json');
    await writeFile(file, JSON.stringify({ name: 'crm.merge', paramsSchema: { type: 'object' } }));
    await line(`tools add ${file}`);
    await line('tools list');
    await line('tools get crm.merge');
    await line('tools pause crm.merge');
    const { fingerprint } = (await owner.get('/tools/crm.merge')).body;
    await line(`tools activate crm.merge --fingerprint ${fingerprint}`);
    await line('tools delete crm.merge');

    await line('teams create Sales');
    await line('teams list');
    const [{ teamId }] = (await owner.get('/teams')).body.items;
    const { memberId } = await test.createMember(test.workspaceId, 'viewer', [teamId]);
    await line(`teams add ${teamId} new@example.com`);
    await line(`teams members ${teamId}`);
    await line(`teams remove ${teamId} ${memberId}`);
    await line(`teams archive ${teamId}`);

    expect(await line('tokens create CI')).toMatch(/^cons_\w+$/m);
    await line('tokens list');
    const { tokenId } = await shell.json(['agents', 'add', 'short', '--tool', 'short.act']);
    for (const verb of ['pause', 'resume', 'rotate', 'revoke']) await line(`tokens ${verb} ${tokenId}`);
  });

  it('webhooks are sent, listened to and sent again', async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
    await line(`webhooks add ${url} --events kill.activated`);
    await line('webhooks list');
    const [{ destinationId }] = (await owner.get('/partner/webhooks')).body.items;
    await line(`webhooks test ${destinationId}`);
    const [delivery] = await eventually(
      async () => shell.json(['webhooks', 'deliveries', destinationId]),
      ([one]) => one?.status === 'delivered',
    );
    await line(`webhooks deliveries ${destinationId}`);
    await line(`webhooks resend ${delivery.deliveryId}`);
    await line(`webhooks resume ${destinationId}`);
    await line(`webhooks delete ${destinationId}`);
    expect((await owner.get('/partner/webhooks')).body.items).toEqual([]);
    await line(`webhooks trigger kill.activated --forward-to ${url}`);
    await line(`webhooks listen --forward-to ${url}`, { steps: [['Ctrl-C ends.', '\u0003']], code: 130 });
  });

  it('a person signs in, changes profiles and signs out', async () => {
    const env = { CONSIGLIERE_TOKEN: '' };
    await line(`login --url ${test.url}`, { env, steps: [['Operator token', `${owner.token}\r`]] });
    await line('profiles list', { env });
    await line('profiles use default', { env });
    expect(await line('logout', { env })).toContain('is forgotten here');
    await line('whoami', { env, code: 4 });
  });

  it('every command was driven, but for those that speak a protocol on standard input', () => {
    const leaves = commandNames();
    expect(leaves.length).toBeGreaterThan(90);
    const others = ['completion', 'mcp', 'mcp proxy', 'hook claude-code', 'hook claude-code install'];
    expect(leaves.filter((leaf) => !driven.has(leaf))).toEqual(others);
  });

  it('what a person does at a terminal says so in its receipt', async () => {
    const rows = await test.rows<{ action: string; via: string }>(
      `select distinct action, body::jsonb #>> '{actor,via}' as via from receipts
       where actor_id = $1 and action in ('directive.created', 'approval.approved', 'guardian.killed',
         'guardian.reverted', 'standing_order.created', 'token.created')`,
      [owner.memberId],
    );
    expect(rows.map(({ via }) => via)).toEqual(rows.map(() => 'cli'));
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['approval.approved', 'guardian.killed']),
    );
  });
});
