import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOf, type RecordedInput } from '../../../src/features/standing-orders/decision-input.js';
import { verifyExport } from '../../../src/features/tenancy/verify-export.js';
import type { CountableReport } from '../../../src/features/verifier/countable-report.js';
import { countReport } from '../../../src/features/verifier/report-proof.js';
import { receiptsIn, ReceiptProofs, verifyLog } from '../../../src/features/verifier/verifier.js';
import { canonicalJson, sha256 } from '../../../src/platform/kernel/canonical-json.js';
import type { ReceiptContent } from '../../../src/platform/receipts/receipt.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';

type Receipt = ReceiptContent & { seq: number };
interface Told {
  outcome: string;
  inputHash: string;
  input: RecordedInput;
}

let test: TestApp;
let workspaceId: string;
let log: string;
let exported: string;
let daily: CountableReport;
/** The ids of the action requests of the day, by what became of them. */
const day: Record<string, string> = {};

beforeAll(async () => {
  test = await startTestApp();
  const workspace = await test.createWorkspace();
  ({ workspaceId } = workspace);
  const owner = workspace.owner as TestMember;
  const desk = new OrderDesk(test);
  await owner.put('/settings', { currency: 'EUR', timezone: 'Europe/Vienna' });
  const paramsSchema = { type: 'object', properties: { amount: {}, currency: {} } };
  const paths = { amountPath: 'amount', currencyPath: 'currency' };
  for (const name of ['pay.small', 'pay.other', 'pay.never'])
    await owner.post('/tools', { name, paramsSchema, reversibility: 'reversible', ...paths });
  const limits = { maxAmountPerDay: 1000 };
  await desk.active({ name: 'Small', effect: 'allow', match: { actionTypes: ['pay.small'] }, limits }, owner);
  await desk.active({ name: 'Never', effect: 'deny', match: { actionTypes: ['pay.never'] } }, owner);
  const made = await owner.post('/tokens', { name: 'Bot', agent: { name: 'pay-bot' }, tools: ['pay.*'] });
  const bot = new Client(test.url, made.body.token);

  const ask = async (name: string, tool: string, status: string) => {
    const { body, text } = await bot.post('/action-requests', {
      tool,
      params: { amount: 25, currency: 'EUR' },
    });
    expect(body.status, text).toBe(status);
    day[name] = body.actionRequestId;
    return body;
  };
  const read = async (name: string) => (await bot.get(`/action-requests/${day[name]}`)).body;
  const consume = async (name: string) => {
    const { paramsHash } = await read(name);
    const attempt = day[name]!.padEnd(40, 'x');
    const answer = await bot.post(`/action-requests/${day[name]}/consume`, { attempt, paramsHash });
    expect(answer.status, answer.text).toBe(200);
  };
  const report = async (name: string, outcome: string) =>
    expect((await bot.post(`/action-requests/${day[name]}/result`, { outcome, summary: 'So.' })).status).toBe(
      200,
    );
  const hashNow = async (approvalId: string) =>
    (await owner.get(`/approvals/${approvalId}`)).body.contentHash;
  const decide = async (approvalId: string) => {
    const headers = { 'If-Match': `"${await hashNow(approvalId)}"` };
    const answer = await owner.send('POST', `/approvals/${approvalId}/approve`, undefined, headers);
    expect(answer.status, answer.text).toBe(200);
  };

  await ask('allowed', 'pay.small', 'allowed');
  await consume('allowed');
  await report('allowed', 'succeeded');
  const edit = async (approvalId: string) => {
    const headers = { 'If-Match': `"${await hashNow(approvalId)}"` };
    const params = { amount: 20, currency: 'EUR' };
    const answer = await owner.send('PATCH', `/approvals/${approvalId}`, { params }, headers);
    expect(answer.status, answer.text).toBe(200);
  };
  const edited = await ask('edited', 'pay.other', 'pending');
  await edit(edited.approvalId);
  await decide(edited.approvalId);
  await consume('edited');
  await report('edited', 'failed');
  const approved = await ask('approved', 'pay.other', 'pending');
  await decide(approved.approvalId);
  await consume('approved');
  await ask('denied', 'pay.never', 'denied');
  const rejected = await ask('rejected', 'pay.other', 'pending');
  await owner.post(`/approvals/${rejected.approvalId}/reject`, { feedback: 'No.' });
  await ask('cancelled', 'pay.other', 'pending');
  await bot.post(`/action-requests/${day['cancelled']}/cancel`);
  await edit((await ask('waiting', 'pay.other', 'pending')).approvalId);
  await ask('voided', 'pay.small', 'allowed');
  await owner.post('/guardian/killswitch', { reason: 'Stop.' });
  await owner.post('/guardian/revert', { mode: 'resume', reason: 'Go on.' });
  await eventually(
    async () => (await owner.get('/guardian')).body.mode,
    (mode) => mode === 'guardrailed',
  );
  await report('approved', 'succeeded');
  await ask('later', 'pay.small', 'allowed');
  await consume('later');
  log = (await desk.elsewhere(owner).get('/audit-feed?format=jsonl')).text;
  daily = (await desk.elsewhere(owner).get('/reports/daily')).body;
  exported = (await (await test.signIn(owner.memberId)).get('/workspace/export')).text;
}, 60_000);
afterAll(() => test.close());

/** The receipts in their order, to be changed. */
function receipts(): Receipt[] {
  const lines = log.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Receipt).toSorted((a, b) => a.seq - b.seq);
}

/** As somebody does it who can write the whole chain anew: numbers and hashes fit again. */
function proofsOf(changed: readonly Receipt[]): ReceiptProofs {
  const proofs = new ReceiptProofs();
  for (const [index, { seq: _seq, ...content }] of changed.entries()) proofs.receipt(index + 1, content);
  return proofs;
}

const find = (all: Receipt[], name: string, action: string) =>
  all.find((one) => one.entity.id === day[name] && one.action === `action.${action}`)!;
const approvalOf = (all: Receipt[], name: string, action: string) =>
  all.find(
    (one) =>
      one.entity.id === find(all, name, 'asked').details['approvalId'] && one.action === `approval.${action}`,
  )!;
const decisionOf = ({ details }: Receipt) => (details['decisions'] as Told[])[0]!;
const rehash = (decision: Told) => (decision.inputHash = hashOf(decision.input));
const without = (all: Receipt[], receipt: Receipt) => all.filter((one) => one !== receipt);
/** Behind this receipt, as if it had been written then. */
const inserted = (all: Receipt[], behind: Receipt, receipt: Receipt) =>
  all.toSpliced(all.indexOf(behind) + 1, 0, structuredClone(receipt));
const place = (changed: Receipt[], receipt: Receipt) => changed.indexOf(receipt) + 1;

type Tampering = (all: Receipt[]) => { changed: Receipt[]; named: string };

/** What somebody may have changed, and what is said of it: the kind of fault, and the number of the receipt. */
const TAMPERINGS: Record<string, Tampering> = {
  'an allowed request that was decided by other orders'(all) {
    const allowed = find(all, 'later', 'allowed');
    const decision = decisionOf(allowed);
    decision.input = { ...decision.input, policy: sha256(canonicalJson([])), usage: {} };
    rehash(decision);
    return { changed: all, named: `policy ${allowed.seq}` };
  },
  'an outcome that the orders do not have'(all) {
    const denied = find(all, 'denied', 'denied');
    denied.action = 'action.allowed';
    decisionOf(denied).outcome = 'allow';
    return { changed: all, named: `outcome ${denied.seq}` };
  },
  'an act that is not that of its decision'(all) {
    const denied = find(all, 'denied', 'denied');
    denied.action = 'action.allowed';
    return { changed: all, named: `outcome ${denied.seq}` };
  },
  'a consume that no order had allowed'(all) {
    const changed = without(all, find(all, 'later', 'allowed'));
    return { changed, named: `permission ${place(changed, find(all, 'later', 'consumed'))}` };
  },
  'a consume that nobody had approved'(all) {
    const changed = without(all, approvalOf(all, 'approved', 'approved'));
    return { changed, named: `permission ${place(changed, find(all, 'approved', 'consumed'))}` };
  },
  'a consume of what was rejected'(all) {
    const forged = { ...find(all, 'later', 'consumed'), entity: find(all, 'rejected', 'asked').entity };
    return { changed: [...all, forged], named: `permission ${all.length + 1}` };
  },
  'a second consume'(all) {
    const consumed = find(all, 'later', 'consumed');
    return { changed: [...all, consumed], named: `twice ${all.length + 1}` };
  },
  'a consume between a kill and its revert'(all) {
    const killed = all.find(({ action }) => action === 'guardian.killed')!;
    const forged = { ...find(all, 'later', 'consumed'), entity: find(all, 'voided', 'allowed').entity };
    return { changed: inserted(all, killed, forged), named: `in halt ${killed.seq + 1}` };
  },
  'a consume after the revert of what the kill had voided'(all) {
    const forged = { ...find(all, 'later', 'consumed'), entity: find(all, 'voided', 'allowed').entity };
    return { changed: [...all, forged], named: `permission ${all.length + 1}` };
  },
  'a consume in another epoch of the guardian'(all) {
    const consumed = find(all, 'later', 'consumed');
    consumed.guardianEpoch = 0;
    return { changed: all, named: `epoch ${consumed.seq}` };
  },
  'other parameters than an order allowed'(all) {
    const consumed = find(all, 'allowed', 'consumed');
    consumed.details['paramsHash'] = 'a'.repeat(64);
    return { changed: all, named: `params ${consumed.seq}` };
  },
  'other parameters than a person approved: those before the edit'(all) {
    const consumed = find(all, 'edited', 'consumed');
    consumed.details['paramsHash'] = find(all, 'edited', 'asked').details['paramsHash'];
    return { changed: all, named: `params ${consumed.seq}` };
  },
  'an approval of another content than the edited one'(all) {
    const approved = approvalOf(all, 'edited', 'approved');
    approved.details['contentHash'] = approvalOf(all, 'edited', 'edited').details['before'];
    return { changed: all, named: `content ${approved.seq}` };
  },
  'an edit that was left out'(all) {
    const changed = without(all, approvalOf(all, 'edited', 'edited'));
    return { changed, named: `content ${place(changed, approvalOf(all, 'edited', 'approved'))}` };
  },
  'a result of what was not consumed'(all) {
    const changed = without(all, find(all, 'approved', 'consumed'));
    return { changed, named: `result ${place(changed, find(all, 'approved', 'completed'))}` };
  },
  'a second result'(all) {
    return { changed: [...all, find(all, 'allowed', 'completed')], named: `result ${all.length + 1}` };
  },
  'another amount than was decided, with its hash made to fit'(all) {
    const decision = decisionOf(find(all, 'allowed', 'allowed'));
    decision.input.packet.amount = 5;
    rehash(decision);
    return { changed: all, named: `usage ${find(all, 'voided', 'allowed').seq}` };
  },
  'another agent in an act'(all) {
    const consumed = find(all, 'later', 'consumed');
    consumed.actor = { ...consumed.actor, name: 'other-bot' };
    return { changed: all, named: `agent ${consumed.seq}` };
  },
  'another agent in a decision, with its hash made to fit'(all) {
    const allowed = find(all, 'later', 'allowed');
    const decision = decisionOf(allowed);
    decision.input.packet.outside!.agent = 'other-bot';
    rehash(decision);
    return { changed: all, named: `agent ${allowed.seq}` };
  },
};

const named = ({ actions, decisions, inHalt }: ReceiptProofs) => [
  ...[...actions.faults, ...decisions.faults].map(({ kind, seq }) => `${kind} ${seq}`),
  ...inHalt.map(({ seq }) => `in halt ${seq}`),
];

describe('a day of an agent', () => {
  it('is sound as it is, with a receipt of each kind', async () => {
    const { proofs, lines } = await verifyExport(Readable.from([Buffer.from(exported)]));
    expect(lines).toBeGreaterThan(0);
    expect(named(proofs)).toEqual([]);
    expect(proofs.areSound).toBe(true);
    const underWay = { workPacketId: day['approved'], ended: 'executed' };
    expect(proofs.halts.halts).toMatchObject([{ dispatchCount: 0, unconfirmed: [underWay] }]);
    expect(proofs.inWords().at(-1)).toBe(
      'Action requests: 4 were consumed; each once, as it had been allowed or approved.',
    );
    const kinds = receipts().flatMap(({ action }) => (action.startsWith('action.') ? [action.slice(7)] : []));
    const all = ['allowed', 'asked', 'denied', 'consumed', 'completed', 'failed', 'cancelled', 'voided'];
    expect([...new Set(kinds)].toSorted()).toEqual(all.toSorted());
    expect(exported).toContain('action.consumed');
  });

  it('is counted again as its Daily Report tells it', async () => {
    const all = await receiptsIn(Readable.from([Buffer.from(log)]));
    expect(daily).toMatchObject({ sections: { approvalQueue: { pending: 1 } } });
    expect(countReport(all, daily, workspaceId).differences).toEqual([]);
  });

  it.each(Object.entries(TAMPERINGS))('names %s', (_what, tamper) => {
    const { changed, named: expected } = tamper(receipts());
    const proofs = proofsOf(changed);
    expect(named(proofs)).toContain(expected);
    expect(proofs.areSound).toBe(false);
    expect(proofs.inWords().join('\n')).toContain(`eceipt ${expected.split(' ').at(-1)} `);
  });

  it.each(Object.entries(TAMPERINGS))('does not hold its hashes: %s', async (_what, tamper) => {
    // As somebody does it who only changes what is stored.
    const { changed } = tamper(receipts());
    const lines = changed.map((receipt) => JSON.stringify(receipt)).join('\n');
    const verified = verifyLog(Readable.from([Buffer.from(lines)]), workspaceId).then(
      ({ gaps }) => `${gaps} gaps`,
      (error: Error) => error.message,
    );
    expect(await verified).toMatch(/^The hash of receipt \d+|^Receipt \d+ is there twice|^1 gaps$/);
  });

  it('names a receipt that was left out of an export', async () => {
    const lines = exported
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const index = lines.findIndex(({ receipt }) => receipt?.body.includes('"action.consumed"'));
    const { seq } = lines[index].receipt;
    const rest = lines.toSpliced(index, 1).map((line, at) => JSON.stringify({ ...line, n: at + 1 }));
    await expect(verifyExport(Readable.from([Buffer.from(`${rest.join('\n')}\n`)]))).rejects.toThrow(
      new RegExp(`Line ${index + 1}: .*${seq}`),
    );
  });

  it('accuses nobody where receipts are missing', async () => {
    for (let from = 1; from < receipts().length; from++) {
      const proofs = new ReceiptProofs();
      for (const { seq, ...content } of receipts().slice(from)) proofs.receipt(seq, content);
      expect(proofs.actions.faults, String(from)).toEqual([]);
    }
    const proofs = new ReceiptProofs();
    for (const { seq, ...content } of receipts()) if (seq % 7 !== 0) proofs.receipt(seq, content);
    expect(proofs.actions.faults).toEqual([]);
  });

  it('is read to its end, whatever stands in a receipt', () => {
    const all = receipts();
    for (const [index, receipt] of all.entries()) {
      const nonsense = [null, [], 'x', 7, {}, [{ input: null }], [{ input: { packet: {} } }]];
      receipt.details = { ...receipt.details, decisions: nonsense[index % nonsense.length] };
    }
    expect(proofsOf(all).areSound).toBe(false);
  });
});
