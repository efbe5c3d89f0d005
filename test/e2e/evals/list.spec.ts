import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { SKILL } from '../../eval-rules/corpus-skills.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, OrderDesk } from '../standing-orders/order-desk.js';

let test: TestApp;
let orders: OrderDesk;
let salesId: string;
let seller: TestMember;
let viewer: TestMember;
const ids: Record<string, string> = {};
const targets: Record<string, string> = {};

beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
  salesId = await test.createTeam(test.workspaceId, 'Sales');
  seller = await test.createMember(test.workspaceId, 'operator', [salesId]);
  viewer = await orders.member('viewer');
  targets['documents'] = await orders.create(FILE_DOCUMENTS);
  targets['mail'] = await orders.create(MAIL_TO_ACME);
  targets['sales'] = await orders.create({ ...FILE_DOCUMENTS, teamId: salesId });
  for (const name of ['documents', 'mail', 'sales']) {
    const body = { name, targetEntityType: 'standing_order', targetEntityId: targets[name] };
    ids[name] = (await orders.elsewhere(test.owner).post('/evals/run', body)).body.evalRunId;
  }
  const skill = {
    name: 'skill',
    targetEntityType: 'skill',
    targetEntityId: 'price-quote',
    definition: SKILL,
  };
  ids['skill'] = (await orders.elsewhere(test.owner).post('/evals/run', skill)).body.evalRunId;
});
afterAll(() => test.close());

const listed = (body: { items: { evalRunId: string }[] }) =>
  body.items.map(({ evalRunId }) => Object.keys(ids).find((name) => ids[name] === evalRunId));
const get = (query: string, by: Client = test.owner) => orders.elsewhere(by).get(`/evals${query}`);

describe('GET /evals 200', () => {
  it('lists the runs newest first, without their findings', async () => {
    const { status, body } = await get('?kind=skill_definition_syntax');
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 1, limit: 20, offset: 0, nextCursor: null });
    const [item] = body.items;
    const {
      findings: _findings,
      findingsOmitted: _omitted,
      ...record
    } = (await get(`/${ids['skill']}`)).body;
    expect(item).toEqual(record);
  });

  it.each<[string, string[]]>([
    ['?kind=skill_definition_syntax', ['skill']],
    ['?passed=true&kind=standing_order_safety', ['sales', 'documents']],
    ['?targetEntityId=price-quote', ['skill']],
  ])('narrows by %s', async (query, names) => {
    const { body } = await get(query);
    // Runs that activations have asked for stand among them.
    expect(listed(body).filter((name) => name !== undefined)).toEqual(names);
  });

  it('narrows by outcome, target and team', async () => {
    const failed = await get(`?passed=false&targetEntityId=${targets['mail']}`);
    expect(listed(failed.body)).toContain('mail');
    expect(failed.body.items.every(({ passed }: { passed: boolean }) => !passed)).toBe(true);
    const ofTeam = await get(`?teamId=${salesId}`);
    expect(listed(ofTeam.body)).toContain('sales');
    expect(ofTeam.body.items.every(({ teamId }: { teamId: string }) => teamId === salesId)).toBe(true);
  });

  it('goes on behind the last one', async () => {
    const first = await get('?limit=1');
    expect(listed(first.body)).toEqual(['skill']);
    const second = await get(`?limit=1&cursor=${first.body.nextCursor}`);
    expect(listed(second.body)).toEqual(['sales']);
  });

  it('shows each member their runs alone', async () => {
    expect(listed((await get('', seller)).body)).toContain('sales');
    expect(listed((await get('', seller)).body)).not.toContain('mail');
    const shown = listed((await get('', viewer)).body);
    expect(shown).toContain('mail');
    expect(shown).not.toContain('sales');
    const { owner } = await test.createWorkspace();
    expect((await get('', owner)).body.items).toEqual([]);
  });
});

describe('GET /evals 422', () => {
  it.each([
    ['kind=none', 'kind'],
    ['passed=perhaps', 'passed'],
    ['teamId=sales', 'teamId'],
    ['targetEntityId=%20', 'targetEntityId'],
    ['cursor=x', 'cursor'],
  ])('names what is wrong with %s', async (query, path) => {
    const { status, body } = await get(`?${query}`);
    expect(status).toBe(422);
    expect(body.error.details[0].path).toBe(path);
  });

  it('refuses a filter that there is not', async () => {
    expect((await get('?occasion=request')).status).toBe(422);
  });
});

describe('GET /evals/{evalRunId} 404', () => {
  it.each([
    ['a missing run', () => newId('evl')],
    ['what is no id', () => 'run'],
  ])('answers it for %s', async (_name, id) => {
    expect((await get(`/${id()}`)).status).toBe(404);
  });

  it('answers it for a run of another team', async () => {
    expect((await get(`/${ids['sales']}`, viewer)).status).toBe(404);
    expect((await get(`/${ids['mail']}`, seller)).status).toBe(404);
  });
});
