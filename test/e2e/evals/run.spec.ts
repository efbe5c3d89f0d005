import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { SKILL } from '../../eval-rules/corpus-skills.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { Desk, DOCUMENT } from '../directives/desk.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, OrderDesk } from '../standing-orders/order-desk.js';

let test: TestApp;
let orders: OrderDesk;
let desk: Desk;
let salesId: string;
let seller: TestMember;
let supporter: TestMember;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
  desk = new Desk(test);
  salesId = await test.createTeam(test.workspaceId, 'Sales');
  const supportId = await test.createTeam(test.workspaceId, 'Support');
  seller = await test.createMember(test.workspaceId, 'operator', [salesId]);
  supporter = await test.createMember(test.workspaceId, 'operator', [supportId]);
});
afterAll(() => test.close());

const run = (body: object, by: Client = test.owner) =>
  orders.elsewhere(by).post('/evals/run', { name: 'Before the holidays', ...body });
const ofOrder = (targetEntityId: string) => ({ targetEntityType: 'standing_order', targetEntityId });
const ofPacket = (targetEntityId: string) => ({ targetEntityType: 'workflow_candidate', targetEntityId });
const ruleIds = ({ findings }: { findings: { ruleId: string }[] }) => findings.map(({ ruleId }) => ruleId);

async function receiptOf(receiptId: string) {
  const [row] = await test.rows<{ body: string }>('select body from receipts where receipt_id = $1', [
    receiptId,
  ]);
  return JSON.parse(row!.body);
}

async function packetOf(text: string): Promise<string> {
  const { directiveId } = await desk.handInReady({ text, capo: 'capo_ops' });
  return (await desk.packets(directiveId))[0].workPacketId;
}

describe('POST /evals/run 201', () => {
  it('answers the record of the contract, stores it and leaves a receipt', async () => {
    const standingOrderId = await orders.create(MAIL_TO_ACME);
    const before = Date.now();
    const { status, body, headers } = await run(ofOrder(standingOrderId));
    expect(status).toBe(201);
    expect(body).toEqual({
      evalRunId: expect.stringMatching(/^evl_/),
      teamId: null,
      name: 'Before the holidays',
      kind: 'standing_order_safety',
      ...ofOrder(standingOrderId),
      targetVersion: 1,
      occasion: 'request',
      status: 'completed',
      score: 0.29,
      threshold: 0.75,
      passed: false,
      findings: expect.any(Array),
      findingsOmitted: 0,
      durationMs: expect.any(Number),
      createdBy: { type: 'member', id: expect.any(String), name: expect.any(String), via: 'api' },
      createdAt: expect.any(Number),
      receiptId: expect.stringMatching(/^rcp_/),
    });
    expect(ruleIds(body)).toEqual([
      'order.unlimited_irreversible',
      'order.large_audience',
      'order.no_expiry_irreversible',
      'order.every_capo',
    ]);
    expect(body.findings[0]).toEqual({
      ruleId: 'order.unlimited_irreversible',
      severity: 'critical',
      path: 'limits',
      message: 'It allows any number of work packets that cannot be undone (email.send).',
      evidence: null,
      suggestion: 'Set `limits.maxPerHour` or `limits.maxPerDay`.',
    });
    expect(body.createdAt).toBeGreaterThanOrEqual(before);
    expect(headers.get('location')).toBe(`/api/pro/evals/${body.evalRunId}`);
    expect((await test.owner.get(`/evals/${body.evalRunId}`)).body).toEqual(body);
    expect(await receiptOf(body.receiptId)).toMatchObject({
      action: 'eval.run',
      entity: { type: 'eval_run', id: body.evalRunId },
      summary: expect.stringContaining(
        'ran the eval "Before the holidays" on the standing order "Mail to Acme": it did not pass.',
      ),
      details: {
        kind: 'standing_order_safety',
        target: { type: 'standing_order', id: standingOrderId, version: 1 },
        score: 0.29,
        passed: false,
        found: { critical: 1, warning: 2, info: 1 },
        rules: ruleIds(body),
      },
    });
  });

  it('compares an order with the others of the workspace, and with what was spent', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const deny = await orders.create(
      { name: 'No sales', effect: 'deny', match: { actionTypes: ['revenue.record'] } },
      owner,
    );
    const allow = await orders.create(
      {
        name: 'Record sales',
        effect: 'allow',
        capos: ['capo_revenue'],
        match: { actionTypes: ['revenue.record'] },
        budget: { window: 'day', amount: 500, currency: 'EUR', warnPercent: 80 },
        expiresAt: Date.now() + 86_400_000,
      },
      owner,
    );
    // One work packet that two orders let through counts once; what went out long ago, or in another currency, does not.
    const use = (workPacketId: string, order: string, amount: number, currency: string, days: number) =>
      test.rows(
        `insert into standing_order_uses (workspace_id, standing_order_id, work_packet_id, at, amount, currency, spent)
         values ($1, $2, $3, now() - make_interval(days => $6), $4, $5, 0)`,
        [workspaceId, order, workPacketId, amount, currency, days],
      );
    const work = new Desk(test, owner.token);
    const packet = async (): Promise<string> => {
      const { directiveId } = await work.handInReady({ text: DOCUMENT, capo: 'capo_ops' });
      return (await work.packets(directiveId))[0].workPacketId;
    };
    const [once, long, dollars, theirs] = [await packet(), await packet(), await packet(), await packet()];
    await use(once, allow, 40, 'EUR', 1);
    await use(once, deny, 40, 'EUR', 1);
    await use(long, allow, 400, 'EUR', 70);
    await use(dollars, allow, 400, 'USD', 1);
    // Nor does what another team's work packets carried: whoever reads the run may not see those.
    await test.rows('update work_packets set team_id = $2 where work_packet_id = $1', [
      theirs,
      await test.createTeam(workspaceId, 'Far'),
    ]);
    await use(theirs, allow, 400, 'EUR', 1);
    const { body } = await run(ofOrder(allow), owner);
    expect(ruleIds(body)).toEqual(['order.overridden', 'order.runaway_budget']);
    expect(body.findings[0]).toMatchObject({
      evidence: deny,
      message: expect.stringContaining('"No sales" (deny)'),
    });
    expect(body.findings[1].message).toBe('It is 12 times the most that went out in one day: 40 EUR.');
    expect(body).toMatchObject({ score: 0.8, passed: true });
  });

  it('looks at the soundness of a work packet, for the capo and the directive it belongs to', async () => {
    const workPacketId = await packetOf(DOCUMENT);
    const { body } = await run(ofPacket(workPacketId));
    expect(body).toMatchObject({
      kind: 'workflow_candidate_soundness',
      targetEntityId: workPacketId,
      targetVersion: null,
      score: 1,
      passed: true,
      findings: [],
    });
    expect(await receiptOf(body.receiptId)).toMatchObject({
      directiveId: expect.stringMatching(/^dir_/),
      capo: 'capo_ops',
    });
    await test.rows('update work_packets set leverage_score = 99 where work_packet_id = $1', [workPacketId]);
    expect(ruleIds((await run(ofPacket(workPacketId))).body)).toEqual(['packet.leverage_score']);
  });

  it('finds a work packet sound that was carried out', async () => {
    const { directiveId, approvalId } = await desk.handInReady({ text: DOCUMENT, capo: 'capo_ops' });
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    const [{ workPacketId }] = await desk.packets(directiveId);
    expect((await run(ofPacket(workPacketId))).body).toMatchObject({ score: 1, findings: [] });
  });

  it('looks at the definition of a skill that is not installed', async () => {
    const asked = { targetEntityType: 'skill', targetEntityId: 'price-quote' };
    const { status, body } = await run({ ...asked, definition: SKILL });
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'skill_definition_syntax', targetVersion: 1, score: 1, passed: true });
    const broken = await run({ ...asked, definition: { ...SKILL, capo: 'capo_nobody', schemaVersion: 'x' } });
    expect(broken.body).toMatchObject({ targetVersion: null, passed: false });
    expect(ruleIds(broken.body)).toEqual(['skill.schema', 'skill.schema']);
  });

  it('bounds what hostile definitions make it say', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`x${n}`, { type: 'no type', more: 1 }]),
    );
    const definition = { inputs: { type: 'object', properties } };
    const { status, body, text } = await run({ targetEntityType: 'skill', targetEntityId: 'x', definition });
    expect(status, text).toBe(201);
    expect(body.findings).toHaveLength(100);
    expect(body.findingsOmitted).toBeGreaterThan(1_000);
    expect(body.passed).toBe(false);
  });

  it('belongs to the team of its target', async () => {
    const standingOrderId = await orders.create({ ...FILE_DOCUMENTS, teamId: salesId });
    const { status, body } = await run(ofOrder(standingOrderId), seller);
    expect(status).toBe(201);
    expect(body.teamId).toBe(salesId);
    expect((await supporter.get(`/evals/${body.evalRunId}`)).status).toBe(404);
    expect((await orders.elsewhere(seller).get(`/evals/${body.evalRunId}`)).status).toBe(200);
    const own = await run({ targetEntityType: 'skill', targetEntityId: 'x', definition: SKILL }, supporter);
    expect((await orders.elsewhere(seller).get(`/evals/${own.body.evalRunId}`)).status).toBe(404);
  });

  it('runs once for one key', async () => {
    const body = { name: 'Once', ...ofOrder(await orders.create(FILE_DOCUMENTS)) };
    const client = new Client(test.url, test.owner.token);
    const key = { 'Idempotency-Key': newId('req') };
    const [one, two] = [
      await client.post('/evals/run', body, key),
      await client.post('/evals/run', body, key),
    ];
    expect(two.body).toEqual(one.body);
    expect(await test.rows(`select 1 from eval_runs where name = 'Once'`)).toHaveLength(1);
  });

  it('is kept as it was: the program cannot change or delete a run', async () => {
    const { rows } = await test.database.owner.query(
      `select privilege_type from information_schema.role_table_grants
       where grantee = 'consigliere_app' and table_name = 'eval_runs' order by 1`,
    );
    expect(rows.map(({ privilege_type }) => privilege_type)).toEqual(['INSERT', 'SELECT']);
  });
});

describe('POST /evals/run 403', () => {
  it('is no viewer’s to run', async () => {
    const viewer = await orders.member('viewer');
    expect((await run(ofOrder(await orders.create(FILE_DOCUMENTS)), viewer)).status).toBe(403);
    const definition = { targetEntityType: 'skill', targetEntityId: 'x', definition: SKILL };
    expect((await run(definition, viewer)).status).toBe(403);
  });
});

describe('POST /evals/run 404', () => {
  it.each([
    ['a missing order', () => ofOrder(newId('so'))],
    ['what is no id of an order', () => ofOrder('somewhere')],
    ['a missing work packet', () => ofPacket(newId('pkt'))],
    ['an order as a work packet', () => ofPacket(newId('so'))],
    ['a skill that is not installed', () => ({ targetEntityType: 'skill', targetEntityId: 'price-quote' })],
  ])('answers it for %s', async (_name, body) => {
    const answer = await run(body());
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe('NOT_FOUND');
  });

  it('answers it for the targets of another workspace or team, and leaves no row', async () => {
    const foreign = await test.createWorkspace();
    const theirs = await orders.create(FILE_DOCUMENTS, foreign.owner);
    const ofSales = await orders.create({ ...FILE_DOCUMENTS, teamId: salesId });
    const before = await test.rows('select 1 from eval_runs');
    expect((await run(ofOrder(theirs))).status).toBe(404);
    expect((await run(ofOrder(ofSales), supporter)).status).toBe(404);
    expect((await run(ofPacket(await packetOf(DOCUMENT)), supporter)).status).toBe(404);
    const team = { targetEntityType: 'skill', targetEntityId: 'x', definition: SKILL, teamId: salesId };
    expect((await run(team, supporter)).status).toBe(404);
    expect(await test.rows('select 1 from eval_runs')).toHaveLength(before.length);
  });
});

describe('POST /evals/run 422', () => {
  it.each<[string, object, string]>([
    ['no name', { name: ' ' }, 'name'],
    ['a name of several lines', { name: 'a\nb' }, 'name'],
    ['the name of another kind', { name: 'skill_definition_syntax' }, 'name'],
    ['an unknown kind of target', { targetEntityType: 'agent' }, 'targetEntityType'],
    ['no target', { targetEntityId: null }, 'targetEntityId'],
    ['a definition of an order', { definition: {} }, 'definition'],
    ['a team for an order', { teamId: 'team_01kerq74k0wtbyzq0h359nrdxj' }, 'teamId'],
    ['a definition that is none', { targetEntityType: 'skill', definition: 'x' }, 'definition'],
    [
      'a definition that is too large',
      { targetEntityType: 'skill', definition: { text: 'x'.repeat(65 * 1024) } },
      'definition',
    ],
    ['what there is not', { strict: true }, 'strict'],
  ])('names %s', async (_name, body, path) => {
    const answer = await run({ ...ofOrder(newId('so')), ...body });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.details[0].path).toBe(path);
  });

  it('takes the name of the kind itself', async () => {
    const { body } = await run({
      name: 'standing_order_safety',
      ...ofOrder(await orders.create(FILE_DOCUMENTS)),
    });
    expect(body.kind).toBe('standing_order_safety');
  });
});
