import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { type ToolEntity, Tools } from '../../../src/features/tools/index.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';

const SCHEMA = {
  type: 'object',
  properties: { amount: { type: 'integer' }, currency: { type: 'string' }, to: { type: 'string' } },
  required: ['amount', 'currency'],
};
const refund = (changes: object = {}) => ({ name: newName(), paramsSchema: SCHEMA, ...changes });
const newName = () => `pay.${newId('req')}/refund`;
const at = (name: string) => `/tools/${encodeURIComponent(name)}`;

let test: TestApp;
let tokens: Record<'admin' | 'operator' | 'viewer' | 'stranger', string>;
let admin: Client;
let operator: Client;
let viewer: Client;
beforeAll(async () => {
  test = await startTestApp();
  const { workspaceId } = test;
  const { owner } = await test.createWorkspace();
  tokens = {
    admin: (await test.createMember(workspaceId, 'admin')).token,
    operator: (await test.createMember(workspaceId, 'operator')).token,
    viewer: (await test.createMember(workspaceId, 'viewer')).token,
    stranger: owner.token!,
  };
});
beforeEach(() => {
  // From addresses of their own, since an address has 30 changes a minute.
  [admin, operator, viewer] = (['admin', 'operator', 'viewer'] as const).map(
    (role) => new Client(test.url, tokens[role]),
  ) as [Client, Client, Client];
});
afterAll(() => test.close());

const rowOf = async (name: string) => (await test.rows('select * from tools where name = $1', [name]))[0];
const receiptsOf = async (name: string) =>
  (
    await test.rows<{ body: string }>('select body from receipts where entity_id = $1 order by seq', [name])
  ).map(({ body }) => JSON.parse(body));
const actsOn = async (name: string) => (await receiptsOf(name)).map(({ action }) => action);
const rulesOf = (answer: { body: any }) =>
  answer.body.error.details.map(({ path, rule }: { path: string; rule: string }) => `${path}: ${rule}`);
const patch = (client: Client, name: string, body: object, ifMatch?: string) =>
  client.send('PATCH', at(name), body, ifMatch === undefined ? {} : { 'If-Match': `"${ifMatch}"` });

describe('POST /tools 201', () => {
  it('registers the tool of an admin as active, with the strictest defaults', async () => {
    const body = refund();
    const answer = await admin.post('/tools', body);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`/api/pro${at(body.name)}`);
    expect(answer.body).toEqual({
      ...body,
      title: body.name,
      description: '',
      audience: body.name,
      reversibility: 'irreversible',
      risk: 'high',
      amountPath: null,
      amountUnit: 'major',
      currencyPath: null,
      recipientsPath: null,
      titleTemplate: null,
      consumeInSeconds: 900,
      completeInSeconds: 900,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      status: 'active',
      createdBy: expect.objectContaining({ type: 'member', via: 'api' }),
      updatedAt: expect.any(Number),
    });
    expect(await rowOf(body.name)).toMatchObject({
      fingerprint: answer.body.fingerprint,
      status: 'active',
      params_schema: SCHEMA,
    });
    expect(await receiptsOf(body.name)).toMatchObject([
      {
        action: 'tool.created',
        entity: { type: 'tool', id: body.name },
        details: { fingerprint: answer.body.fingerprint, status: 'active' },
      },
    ]);
  });

  it('proposes the tool of an agent, even where its token is that of an admin', async () => {
    const name = 'bot.propose';
    const made = await admin.post('/tokens', { name, agent: { name: 'proposer' }, tools: ['bot.*'] });
    const agent = new Client(test.url, made.body.token);
    const { status, body } = await agent.post('/tools', refund({ name }));
    expect([status, body.status], JSON.stringify(body)).toEqual([201, 'proposed']);
    expect((await agent.post('/tools', refund({ name: 'pay.propose' }))).status).toBe(403);
  });

  it('proposes the tool of an operator, which an admin activates as they have read it', async () => {
    const body = refund({ title: 'Refund' });
    const { status, body: proposed } = await operator.post('/tools', body);
    expect([status, proposed.status]).toEqual([201, 'proposed']);
    expect((await patch(admin, body.name, { status: 'active' })).status).toBe(428);
    const stale = await patch(admin, body.name, { status: 'active' }, '0'.repeat(64));
    expect(stale.status).toBe(412);
    expect(stale.body.error.details).toEqual({ fingerprint: proposed.fingerprint });
    const { body: active } = await patch(admin, body.name, { status: 'active' }, proposed.fingerprint);
    expect(active).toMatchObject({ status: 'active', fingerprint: proposed.fingerprint });
    expect(await actsOn(body.name)).toEqual(['tool.proposed', 'tool.activated']);
  });
});

describe('POST /tools 200', () => {
  it('answers the same content as it was registered', async () => {
    const body = refund();
    const { body: first } = await operator.post('/tools', body);
    const again = await operator.post('/tools', { ...body, risk: 'high' });
    expect([again.status, again.body]).toEqual([200, first]);
    expect(await actsOn(body.name)).toEqual(['tool.proposed']);
  });

  it('activates what was proposed when an admin registers the same, and ends no pause', async () => {
    const body = refund();
    await operator.post('/tools', body);
    expect((await admin.post('/tools', body)).body.status).toBe('active');
    await patch(operator, body.name, { status: 'paused' });
    const again = await admin.post('/tools', body);
    expect([again.status, again.body.status]).toEqual([200, 'paused']);
    expect(await actsOn(body.name)).toEqual(['tool.proposed', 'tool.activated', 'tool.paused']);
  });
});

describe('POST /tools 403, 409 and 422', () => {
  it('refuses a viewer', async () => expect((await viewer.post('/tools', refund())).status).toBe(403));

  it('refuses other content under the same name', async () => {
    const body = refund();
    const { body: first } = await admin.post('/tools', body);
    for (const client of [admin, operator]) {
      const answer = await client.post('/tools', { ...body, risk: 'low' });
      expect([answer.status, answer.body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
    }
    expect(await rowOf(body.name)).toMatchObject({ fingerprint: first.fingerprint, risk: 'high' });
  });

  it('refuses one more than the limit, and proposals long before', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const owners = new Client(test.url, owner.token);
    const proposer = await test.createMember(workspaceId, 'operator');
    await owners.post('/tools', refund({ name: 'a' }));
    const fill = (status: string, from: number, to: number) =>
      test.rows(
        `insert into tools select copy.* from tools t, generate_series($3::int, $4::int) n,
           jsonb_populate_record(t, jsonb_build_object('name', 'a' || n, 'status', $2::text)) copy
         where t.workspace_id = $1 and t.name = 'a'`,
        [workspaceId, status, from, to],
      );
    await fill('proposed', 1, 100);
    const refused = await new Client(test.url, proposer.token).post('/tools', refund());
    expect([refused.status, refused.body.error.code]).toEqual([409, 'TOO_MANY_TOOLS']);
    expect((await owners.post('/tools', refund({ name: 'b' }))).status).toBe(201);
    await fill('active', 101, 498);
    expect((await owners.post('/tools', refund({ name: 'c' }))).body.error.code).toBe('TOO_MANY_TOOLS');
  });

  it.each([
    ['a name of our own', { name: 'email.send' }, ['name: reserved']],
    ['a name in other letters', { name: 'rеfund' }, ['name: matches']],
    ['every tool', { name: '*' }, ['name: matches']],
    [
      'a parameter that is not there',
      { titleTemplate: 'To {{nobody}}' },
      ['titleTemplate: unknownParameter'],
    ],
    ['what cannot be seen', { title: 'Re\u200bfund' }, ['title: unseen']],
    ['no schema', { paramsSchema: undefined }, ['paramsSchema: isObject']],
    ['no object', { paramsSchema: {} }, ['paramsSchema.type: type']],
    [
      'too much',
      { paramsSchema: { type: 'object', description: 'x'.repeat(32_768) } },
      ['paramsSchema: maxJsonBytes'],
    ],
    ['a time that is too short', { consumeInSeconds: 59 }, ['consumeInSeconds: min']],
    ['what nobody knows', { scopes: [] }, ['scopes: unknownProperty']],
    [
      'a schema of elsewhere',
      { paramsSchema: { type: 'object', properties: { a: { $ref: 'http://evil.example/a' } } } },
      ['paramsSchema.properties.a.$ref: localRef'],
    ],
  ])('refuses %s', async (_case, changes, rules) => {
    const body = refund(changes);
    const answer = await admin.post('/tools', body);
    expect([answer.status, rulesOf(answer)]).toEqual([422, rules]);
    expect(await rowOf(body.name)).toBeUndefined();
  });
});

it('a schema that takes exponential time is refused, and another workspace registers its own meanwhile', async () => {
  const doubled = (n: number): object => ({
    anyOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }],
  });
  const $defs = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`d${n}`, n === 29 ? { const: 1 } : doubled(n + 1)]),
  );
  const body = refund({ paramsSchema: { type: 'object', properties: { x: doubled(0) }, $defs } });
  const refused = admin.post('/tools', body);
  expect((await new Client(test.url, tokens.stranger).post('/tools', refund())).status).toBe(201);
  expect(rulesOf(await refused)).toEqual(['paramsSchema: timeout']);
  expect(await rowOf(body.name)).toBeUndefined();
});

describe('GET /tools', () => {
  it('lists by name without schemas, and answers one whole, with a slash in its name', async () => {
    const body = refund();
    const { body: tool } = await admin.post('/tools', body);
    const { description: _description, paramsSchema: _schema, ...summary } = tool;
    const page = await viewer.get('/tools?status=active&limit=100');
    expect(page.body.items).toContainEqual(summary);
    const names = page.body.items.map(({ name }: { name: string }) => name);
    expect(names).toEqual(names.toSorted());
    const answer = await viewer.get(at(body.name));
    expect([answer.status, answer.body]).toEqual([200, tool]);
  });

  it.each(['pay.nobody', '*', '%00', 'EMAIL'])('knows no tool %s', async (name) =>
    expect((await viewer.get(`/tools/${name}`)).status).toBe(404),
  );

  it('shows no tool of another workspace', async () => {
    const body = refund();
    await admin.post('/tools', body);
    const stranger = new Client(test.url, tokens.stranger);
    expect((await stranger.get(at(body.name))).status).toBe(404);
    expect((await patch(stranger, body.name, { status: 'paused' })).status).toBe(404);
    expect((await stranger.delete(at(body.name))).status).toBe(404);
    expect((await stranger.post('/tools', body)).status).toBe(201);
    expect((await rowOf(body.name))?.['status']).toBe('active');
  });
});

describe('PATCH /tools/{name}', () => {
  it('changes what is named, and the fingerprint with it', async () => {
    const body = refund({ titleTemplate: 'Refund {{amount}}', risk: 'low' });
    const { body: tool } = await admin.post('/tools', body);
    const changes = { titleTemplate: null, amountPath: 'amount', risk: null, description: 'Pays back.' };
    const answer = await patch(admin, body.name, changes, tool.fingerprint);
    expect(answer.body).toEqual({
      ...tool,
      ...changes,
      risk: 'high',
      fingerprint: expect.not.stringMatching(tool.fingerprint),
      updatedAt: expect.any(Number),
    });
    expect(await rowOf(body.name)).toMatchObject({
      fingerprint: answer.body.fingerprint,
      amount_path: 'amount',
    });
    const [, updated] = await receiptsOf(body.name);
    expect(updated).toMatchObject({
      action: 'tool.updated',
      details: { changed: ['description', 'risk', 'amountPath', 'titleTemplate'] },
    });
  });

  it('takes a schema of as many parameters as POST does', async () => {
    const names = Array.from({ length: 1_100 }, (_, n) => `p${n}`);
    const paramsSchema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) };
    const body = refund({ paramsSchema });
    const { status, body: made } = await admin.post('/tools', body);
    expect([status, made.error]).toEqual([201, undefined]);
    const changed = { ...paramsSchema, required: ['p0'] };
    const answer = await patch(admin, body.name, { paramsSchema: changed }, made.fingerprint);
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    expect(answer.body.paramsSchema).toEqual(changed);
  });

  it('lets an operator pause and do nothing else', async () => {
    const body = refund();
    const { body: tool } = await admin.post('/tools', body);
    expect((await patch(operator, body.name, { risk: 'low' }, tool.fingerprint)).status).toBe(403);
    expect(
      (await patch(operator, body.name, { status: 'paused', risk: 'low' }, tool.fingerprint)).status,
    ).toBe(403);
    expect((await patch(viewer, body.name, { status: 'paused' })).status).toBe(403);
    for (let again = 0; again < 2; again++)
      expect((await patch(operator, body.name, { status: 'paused' })).body.status).toBe('paused');
    expect((await patch(operator, body.name, { status: 'active' }, tool.fingerprint)).status).toBe(403);
    expect((await patch(admin, body.name, { status: 'active' }, tool.fingerprint)).body.status).toBe(
      'active',
    );
    expect(await actsOn(body.name)).toEqual(['tool.created', 'tool.paused', 'tool.activated']);
  });

  it('pauses nothing that is only proposed', async () => {
    const body = refund();
    await operator.post('/tools', body);
    expect((await patch(operator, body.name, { status: 'paused' })).body.error.code).toBe(
      'INVALID_TRANSITION',
    );
  });

  it.each([
    [{ paramsSchema: null }, ['paramsSchema: isObject']],
    [{ paramsSchema: { type: 'object', properties: {} } }, ['amountPath: unknownParameter']],
    [{ status: 'proposed' }, ['status: isIn']],
    [{ name: 'other' }, ['name: unknownProperty']],
  ])('refuses %j', async (changes, rules) => {
    const body = refund({ amountPath: 'amount' });
    const { body: tool } = await admin.post('/tools', body);
    const answer = await patch(admin, body.name, changes, tool.fingerprint);
    expect([answer.status, rulesOf(answer)]).toEqual([422, rules]);
    expect(await rowOf(body.name)).toMatchObject({ fingerprint: tool.fingerprint });
  });
});

describe('DELETE /tools/{name}', () => {
  it('deletes the row, and the name is free again', async () => {
    const body = refund();
    await admin.post('/tools', body);
    expect((await operator.delete(at(body.name))).status).toBe(403);
    expect((await admin.delete(at(body.name))).body.name).toBe(body.name);
    expect(await rowOf(body.name)).toBeUndefined();
    expect((await admin.delete(at(body.name))).status).toBe(404);
    expect((await operator.post('/tools', body)).body.status).toBe('proposed');
    expect(await actsOn(body.name)).toEqual(['tool.created', 'tool.deleted', 'tool.proposed']);
  });
});

it('is found by other features, alone or with what else they read', async () => {
  const body = refund();
  await admin.post('/tools', body);
  const [tools, db] = [test.app.get(Tools), test.app.get(Db)];
  const scope = { workspaceId: test.workspaceId, teamIds: [] };
  const found = await tools.find(scope, body.name);
  expect(found).toMatchObject({ name: body.name, paramsSchema: SCHEMA, status: 'active' });
  const [rows] = await db.readAll(scope, [tools.readStatement(test.workspaceId, body.name)]);
  expect(rows as ToolEntity[]).toEqual([found]);
  expect(await tools.find(scope, 'pay.nobody')).toBeUndefined();
});

it('one of two who register a name at the same time is told of the other', async () => {
  const body = refund();
  const answers = await Promise.all([
    admin.post('/tools', body),
    admin.post('/tools', { ...body, risk: 'low' }),
  ]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
});

it('an idempotency key replays the answer, though the schema is checked with no transaction open', async () => {
  const body = refund();
  const headers = { 'Idempotency-Key': newId('req') };
  const [first, again] = [
    await admin.post('/tools', body, headers),
    await admin.post('/tools', body, headers),
  ];
  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});
