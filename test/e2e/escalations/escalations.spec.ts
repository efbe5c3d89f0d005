import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EscalationOpened, Escalations } from '../../../src/features/escalations/escalations.repository.js';
import { EscalationOptions } from '../../../src/features/escalations/escalations.service.js';
import { Db } from '../../../src/platform/database/db.js';
import { InvalidTransition } from '../../../src/platform/kernel/errors.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { EscalationDesk } from './escalation-desk.js';

const HOUR = 3_600_000;
let test: TestApp;
let desk: EscalationDesk;
/** What the option `repair` of the tests' own records did, by record. */
const repaired: string[] = [];

beforeAll(async () => {
  test = await startTestApp();
  test.app.get(EscalationOptions).register('connector_red', 'printer', {
    options: {
      repair: {
        role: 'admin',
        effect: 'Repairs the printer.',
        run: async ({ entityId }, { caller }) => {
          if (entityId.startsWith('broken')) throw new InvalidTransition({ message: 'It is beyond repair.' });
          repaired.push(entityId);
          return `${caller.name} repaired ${entityId}.`;
        },
      },
    },
  });
});
afterAll(() => test.close());
beforeEach(async () => {
  desk = await EscalationDesk.ofOwn(test);
});

const printer = (id: string = newId('req')) => ({
  entity: { type: 'printer', id },
  options: ['repair', 'dismiss'],
});
const ids = async (query = '', by = desk) =>
  (await by.list(query)).items.map((one: any) => one.escalationId as string);

describe('GET /escalations', () => {
  it('lists what is open, the most urgent first, and of those that wait for nothing the newest', async () => {
    const now = Date.now();
    const older = await desk.open();
    const late = await desk.open({ dueAt: now + 2 * HOUR });
    const newer = await desk.open();
    const soon = await desk.open({ dueAt: now + HOUR });
    const closed = await desk.open();
    await desk.decided(closed, 'dismiss');
    const page = await desk.list();
    expect(page).toMatchObject({ total: 4, limit: 20, offset: 0, nextCursor: null });
    expect(await ids()).toEqual([soon, late, newer, older]);
    expect(page.items[0]).toEqual(await desk.escalation(soon));
    expect(await ids('?status=dismissed')).toEqual([closed]);
    expect(await ids('?status=resolved')).toEqual([]);
  });

  it('says of each option what it does and who may choose it, and leaves out what nobody here knows', async () => {
    const id = await desk.open({ ...printer(), options: ['repair', 'replace', 'dismiss'] });
    const shown = await desk.escalation(id);
    expect(shown.options).toEqual(['repair', 'replace', 'dismiss']);
    expect(shown.choices).toEqual([
      { option: 'repair', effect: 'Repairs the printer.', role: 'admin' },
      {
        option: 'dismiss',
        effect: 'Closes this escalation; everything stays as it is.',
        role: 'operator',
      },
    ]);
    expect((await desk.list()).items).toEqual([shown]);
    expect((await desk.decided(id, 'dismiss')).choices).toEqual(shown.choices);
  });

  it('goes on by cursor, one by one, to the end', async () => {
    const now = Date.now();
    for (const dueAt of [null, now + HOUR, now + HOUR, null, 8.64e15]) await desk.open({ dueAt });
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: any = await desk.list(`?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.items.map((one: any) => one.escalationId));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(await ids());
    expect(new Set(seen).size).toBe(5);
  });

  it('filters by kind and team', async () => {
    const teamId = await test.createTeam(desk.workspaceId, 'A');
    const one = await desk.open({ kind: 'budget_exceeded', teamId });
    const two = await desk.open({ kind: 'packet_failed' });
    expect(await ids('?kind=budget_exceeded')).toEqual([one]);
    expect(await ids('?kind=packet_failed')).toEqual([two]);
    expect(await ids(`?teamId=${teamId}`)).toEqual([one]);
    expect(await ids(`?teamId=${teamId}&kind=packet_failed`)).toEqual([]);
  });

  it('shows everybody those of their own teams, and nobody those of another workspace', async () => {
    const [a, b] = [
      await test.createTeam(desk.workspaceId, 'A'),
      await test.createTeam(desk.workspaceId, 'B'),
    ];
    const [ofA, ofB, ofNone] = [
      await desk.open({ teamId: a }),
      await desk.open({ teamId: b }),
      await desk.open(),
    ];
    const inA = await desk.member('operator', [a]);
    const inNone = await desk.member('operator');
    expect(await ids('', inA)).toEqual([ofA]);
    expect(await ids('', inNone)).toEqual([ofNone]);
    expect(await ids()).toHaveLength(3);
    const stranger = await EscalationDesk.ofOwn(test);
    for (const [who, id] of [
      [inA, ofB],
      [inA, ofNone],
      [inNone, ofA],
      [stranger, ofNone],
    ] as const) {
      expect((await who.client.get(`/escalations/${id}`)).status).toBe(404);
      expect((await who.decide(id, 'dismiss')).status).toBe(404);
      expect(await desk.escalation(id)).toMatchObject({ status: 'open' });
    }
  });

  it.each([
    'status=closed',
    'kind=x',
    'teamId=1',
    'limit=0',
    'limit=101',
    'cursor=x',
    'offset=1&cursor=eyJ9',
    'x=1',
  ])('is 422 for ?%s', async (query) => {
    expect((await desk.client.get(`/escalations?${query}`)).status).toBe(422);
  });

  it.each(['x', newId('esc'), newId('apr'), `${newId('esc')}x`])('is 404 for %s', async (id) => {
    expect((await desk.client.get(`/escalations/${id}`)).status).toBe(404);
  });
});

describe('POST /escalations/decide', () => {
  it('does what the option does, and says so in the record and a receipt', async () => {
    const id = await desk.open(printer('p-1'));
    const decided = await desk.decided(id, 'repair', 'With tape.');
    expect(repaired.filter((one) => one === 'p-1')).toHaveLength(1);
    expect(decided).toMatchObject({
      escalationId: id,
      status: 'resolved',
      decision: 'repair',
      note: 'With tape.',
      outcome: expect.stringContaining('repaired p-1.'),
      decidedBy: { type: 'member', via: 'api' },
    });
    expect(await desk.escalation(id)).toEqual(decided);
    expect((await desk.receipts(id)).at(-1)).toMatchObject({
      action: 'escalation.decided',
      actor: { type: 'member' },
      summary: decided.outcome,
      details: {
        kind: 'connector_red',
        decision: 'repair',
        note: 'With tape.',
        about: { type: 'printer', id: 'p-1' },
      },
    });
  });

  it('answers the same decision again alike, and does it once', async () => {
    const id = await desk.open(printer('p-2'));
    const decided = await desk.decided(id, 'repair', 'First.');
    expect(await desk.decided(id, 'repair', 'Second.')).toEqual(decided);
    expect(repaired.filter((one) => one === 'p-2')).toHaveLength(1);
    expect(await desk.actionsAbout(id)).toEqual(['escalation.opened', 'escalation.decided']);
  });

  it('honours Idempotency-Key', async () => {
    const id = await desk.open(printer('p-3'));
    const key = { 'Idempotency-Key': newId('req') };
    const first = await desk.decide(id, 'repair', undefined, key);
    const again = await desk.decide(id, 'repair', undefined, key);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(first.text);
  });

  it('is 409 for another decision than the first', async () => {
    const id = await desk.open(printer());
    await desk.decided(id, 'dismiss');
    const answer = await desk.decide(id, 'repair');
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({
      code: 'ESCALATION_ALREADY_DECIDED',
      details: { status: 'dismissed', decision: 'dismiss' },
    });
  });

  it('changes nothing when the act of the option is refused', async () => {
    const id = await desk.open(printer(`broken-${newId('req')}`));
    const before = await desk.escalation(id);
    const answer = await desk.decide(id, 'repair');
    expect(answer.status).toBe(409);
    expect(answer.body.error.message).toBe('It is beyond repair.');
    expect(await desk.escalation(id)).toEqual(before);
    expect(await desk.actionsAbout(id)).toEqual(['escalation.opened']);
    expect(await desk.decided(id, 'dismiss')).toMatchObject({ status: 'dismissed' });
  });

  it('is 409 for an option that nobody here knows any more, which can be dismissed', async () => {
    const id = await desk.open({ options: ['repair', 'dismiss'] });
    expect((await desk.decide(id, 'repair')).status).toBe(409);
    await desk.decided(id, 'dismiss');
  });

  it('is 403 for whoever may not do the act itself, and for a viewer', async () => {
    const id = await desk.open(printer());
    const [operator, viewer] = [await desk.member('operator'), await desk.member('viewer')];
    const refused = await operator.decide(id, 'repair');
    expect(refused.status).toBe(403);
    expect(refused.body.error.details).toEqual({ requiredRoles: ['admin', 'owner'] });
    expect((await viewer.decide(id, 'dismiss')).status).toBe(403);
    expect((await operator.decide(id, 'dismiss')).status).toBe(200);
  });

  it.each([
    ['an option of another kind', { decision: 'extend' }, 'decision'],
    ['no decision', { decision: undefined }, 'decision'],
    ['an empty decision', { decision: '' }, 'decision'],
    ['a decision that is no text', { decision: 1 }, 'decision'],
    ['a decision with the name of every object', { decision: 'constructor' }, 'decision'],
    ['a long note', { note: 'x'.repeat(1001) }, 'note'],
    ['a note of 1,000 hearts, which have a selector each', { note: '❤️'.repeat(1000) }, 'note'],
    ['a note that is no text', { note: {} }, 'note'],
    ['what it does not know', { why: 'x' }, 'why'],
  ])('is 422 for %s, and changes nothing', async (_what, body, path) => {
    const escalationId = await desk.open(printer());
    const answer = await desk.client.post('/escalations/decide', {
      escalationId,
      decision: 'dismiss',
      ...body,
    });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.details[0].path).toBe(path);
    expect(await desk.escalation(escalationId)).toMatchObject({ status: 'open' });
  });

  it.each(['', 'x', newId('esc'), newId('apr'), 'x'.repeat(64)])('is 404 for the id %j', async (id) => {
    expect((await desk.decide(id, 'dismiss')).status).toBe(404);
  });

  it('lets one of two go first who decide differently', async () => {
    for (let times = 0; times < 5; times++) {
      const id = await desk.open(printer(`race-${times}`));
      const [one, two] = await Promise.all([desk.decide(id, 'repair'), desk.decide(id, 'dismiss')]);
      expect([one.status, two.status].toSorted()).toEqual([200, 409]);
      const done = repaired.filter((entityId) => entityId === `race-${times}`);
      expect(done).toHaveLength(one.status === 200 ? 1 : 0);
      expect(await desk.actionsAbout(id)).toEqual(['escalation.opened', 'escalation.decided']);
    }
  });
});

describe('opening', () => {
  it('keeps the one that is open about the same, over all who open it at once', async () => {
    const entity = { type: 'printer', id: newId('req') };
    const opened = await Promise.all(Array.from({ length: 8 }, () => desk.open({ entity })));
    expect(new Set(opened).size).toBe(1);
    expect(await desk.actionsAbout(opened[0]!)).toEqual(['escalation.opened']);
    const other = await desk.open({ entity, kind: 'packet_failed' });
    expect(other).not.toBe(opened[0]);
    await desk.decided(opened[0]!, 'dismiss');
    expect(await desk.open({ entity })).not.toBe(opened[0]);
  });

  it('counts what one stands for', async () => {
    const entity = { type: 'printer', id: newId('req') };
    await Promise.all(Array.from({ length: 8 }, () => desk.open({ entity, counts: true })));
    expect((await desk.list()).items).toMatchObject([{ count: 8 }]);
  });

  it('cuts a long reason between its characters', async () => {
    const id = await desk.open({ reason: '👩‍👩‍👧 '.repeat(400) });
    const { reason } = await desk.escalation(id);
    expect(reason.length).toBeLessThanOrEqual(1000);
    expect(reason).toMatch(/👩‍👩‍👧…$/u);
  });

  it('tells who wants to know, once, in the transaction that opens it', async () => {
    const told: string[] = [];
    test.app.get(EscalationOpened).register(({ escalationId, workspaceId }) => {
      if (workspaceId === desk.workspaceId) told.push(escalationId);
    });
    const entity = { type: 'printer', id: newId('req') };
    const id = await desk.open({ entity });
    await desk.open({ entity });
    expect(told).toEqual([id]);
  });
});

describe('a cause that is gone', () => {
  it('closes what is open about it, with a receipt, and nothing else', async () => {
    const entity = { type: 'printer', id: newId('req') };
    const id = await desk.open({ entity });
    const other = await desk.open({ entity, kind: 'packet_failed' });
    const { workspaceId } = desk;
    const resolve = () =>
      test.app
        .get(Db)
        .transaction({ workspaceId, teamIds: 'all' }, () =>
          test.app.get(Escalations).resolveAbout('connector_red', entity, 'The printer prints again.'),
        );
    await resolve();
    await resolve();
    expect(await desk.escalation(id)).toMatchObject({
      status: 'resolved',
      decision: null,
      decidedBy: { type: 'system' },
      outcome: 'The printer prints again.',
    });
    expect(await desk.escalation(other)).toMatchObject({ status: 'open' });
    expect(await desk.receipts(id)).toMatchObject([
      { action: 'escalation.opened' },
      {
        action: 'escalation.resolved',
        actor: { type: 'system' },
        summary: 'Nobody has to decide any more: The printer prints again.',
      },
    ]);
  });
});
