import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { FILE_DOCUMENTS, NO_MAIL, OrderDesk } from './order-desk.js';

let test: TestApp;
let desk: OrderDesk;
let standingOrderId: string;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
  standingOrderId = await desk.create({
    ...FILE_DOCUMENTS,
    text: 'x'.repeat(3_000),
    limits: { maxPerDay: 5 },
  });
  await desk.revise(standingOrderId, { limits: { maxPerDay: 4 } });
  await desk.revise(standingOrderId, { name: 'Files', limits: { maxPerDay: 3 } });
});
afterAll(() => test.close());

const get = (path: string) => desk.elsewhere(test.owner).get(`/standing-orders/${path}`);

describe('GET /standing-orders/:id/versions', () => {
  it('answers every version, newest first, without its rule and with the beginning of its text', async () => {
    const { status, body } = await get(`${standingOrderId}/versions`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 3, limit: 20, offset: 0 });
    expect(body.items).toMatchObject([
      { version: 3, isCurrent: true, name: 'Files', limits: { maxPerDay: 3 } },
      { version: 2, isCurrent: false, name: 'File documents', limits: { maxPerDay: 4 } },
      { version: 1, isCurrent: false, name: 'File documents', limits: { maxPerDay: 5 } },
    ]);
    expect(body.items[0].text).toHaveLength(1_000);
    expect(Object.keys(body.items[0])).not.toContain('match');
    expect(body.items[0].hash).toBe((await desk.row(standingOrderId)).hash);
  });

  it('answers a page after another', async () => {
    const { body } = await get(`${standingOrderId}/versions?limit=2`);
    expect(body.items.map(({ version }: { version: number }) => version)).toEqual([3, 2]);
    const next = await get(
      `${standingOrderId}/versions?limit=2&cursor=${encodeURIComponent(body.nextCursor)}`,
    );
    expect(next.body.items.map(({ version }: { version: number }) => version)).toEqual([1]);
  });

  it('answers those of an order that another team has now', async () => {
    const [before, after] = [
      await test.createTeam(test.workspaceId, 'Before'),
      await test.createTeam(test.workspaceId, 'After'),
    ];
    const moved = await desk.create({ ...NO_MAIL, teamId: before });
    await test.rows('update standing_orders set team_id = $2 where standing_order_id = $1', [moved, after]);
    const member = await desk.member('operator', [after]);
    const { body } = await member.get(`/standing-orders/${moved}/versions`);
    expect(body.items).toMatchObject([{ version: 1 }]);
    expect((await member.get(`/standing-orders/${moved}/versions/1`)).status).toBe(200);
    expect((await desk.rollBack(moved, { version: 1 }, member)).status).toBe(200);
  });

  it('answers 404 for an order that there is not, or that the caller may not see', async () => {
    const { owner } = await test.createWorkspace();
    const far = await desk.create(NO_MAIL, owner);
    for (const id of [newId('so'), far]) expect((await get(`${id}/versions`)).status).toBe(404);
    const [mine, theirs] = [
      await test.createTeam(test.workspaceId, 'Mine'),
      await test.createTeam(test.workspaceId, 'Theirs'),
    ];
    const ofTeam = await desk.create({ ...NO_MAIL, teamId: theirs });
    const member = await desk.member('viewer', [mine]);
    expect((await member.get(`/standing-orders/${ofTeam}/versions`)).status).toBe(404);
    expect((await member.get(`/standing-orders/${ofTeam}/versions/1`)).status).toBe(404);
  });
});

describe('GET /standing-orders/:id/versions/:version', () => {
  it('answers one version with its rule and all of its text', async () => {
    const { status, body } = await get(`${standingOrderId}/versions/1`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      version: 1,
      isCurrent: false,
      match: FILE_DOCUMENTS.match,
      when: null,
      approval: null,
      limits: { maxPerDay: 5 },
      createdBy: { type: 'member' },
    });
    expect(body.text).toHaveLength(3_000);
  });

  it.each(['4', '0', '-1', '01', 'one', '1.5', '99999999999'])(
    'answers 404 for the version %s',
    async (version) => {
      expect((await get(`${standingOrderId}/versions/${version}`)).status).toBe(404);
    },
  );
});

describe('a version', () => {
  it.each([
    'update standing_order_versions set name = $1',
    'delete from standing_order_versions where name = $1',
  ])('cannot be touched by the application: %s', async (statement) => {
    const connection = await test.database.owner.connect();
    try {
      await connection.query('begin');
      await connection.query('set local role consigliere_app');
      await expect(connection.query(statement, ['Files'])).rejects.toThrow(/permission denied/);
    } finally {
      await connection.query('rollback');
      connection.release();
    }
  });
});
