import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../../src/platform/auth/caller.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { CAPO, SignalDesk } from './signal-desk.js';

const HOUR_MS = 3_600_000;

let test: TestApp;
let desk: SignalDesk;
let member: TestMember;
let operator: Client;
beforeAll(async () => {
  test = await startTestApp();
  desk = new SignalDesk(test);
  member = await test.createMember(test.workspaceId, 'operator');
});
beforeEach(() => {
  // From an address of its own, since 30 calls a minute are all that one address has.
  operator = new Client(test.url, member.token);
});
afterAll(() => test.close());

describe('POST /ack 200', () => {
  it('acknowledges and answers the record of the contract', async () => {
    const signalId = await desk.raise();
    const before = Date.now();
    const answer = await operator.post('/ack', { signalId, note: 'Called her.' });
    expect(answer.status).toBe(200);
    const by = { type: 'member', id: member.memberId, via: 'api' };
    expect(answer.body).toEqual({
      signalId,
      type: 'buyer',
      severity: 'warning',
      title: 'A buyer went quiet',
      body: 'No answer for **nine** days.',
      score: 0.75,
      source: CAPO,
      teamId: null,
      capo: 'capo_revenue',
      entity: { type: 'buyer', id: 'b-1' },
      createdAt: expect.any(Number),
      acknowledgedAt: expect.any(Number),
      acknowledgedBy: expect.objectContaining(by),
      snoozedUntil: null,
    });
    expect(answer.body.acknowledgedAt).toBeGreaterThanOrEqual(before);
    expect(await desk.row(signalId)).toMatchObject({
      acknowledged_at: new Date(answer.body.acknowledgedAt),
      acknowledged_by: answer.body.acknowledgedBy,
      note: 'Called her.',
    });
    expect((await desk.receipts(signalId)).at(-1)).toMatchObject({
      action: 'signal.acknowledged',
      actor: by,
      details: { note: 'Called her.', snoozedUntil: null },
      requestId: answer.headers.get('x-request-id'),
    });
  });

  it('answers the same again, to anyone, without a second receipt', async () => {
    const signalId = await desk.raise();
    const first = await operator.post('/ack', { signalId, note: 'First' });
    const second = await test.owner.post('/ack', { signalId, note: 'Second' });
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await desk.row(signalId)).toMatchObject({ note: 'First' });
    expect(await desk.actions(signalId)).toEqual(['signal.raised', 'signal.acknowledged']);
  });

  it('is decided once however many ask at the same time', async () => {
    const signalId = await desk.raise();
    // All of them wait at the row before the first may go on, else the first is done before the second comes.
    const holder = await test.database.owner.connect();
    await holder.query('begin');
    await holder.query('select 1 from signals where signal_id = $1 for update', [signalId]);
    const asking = Array.from({ length: 4 }, () => operator.post('/ack', { signalId }));
    await eventually(
      () =>
        test.rows(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length === 4,
    );
    await holder.query('commit');
    holder.release();
    const answers = await Promise.all(asking);
    for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
    expect(await desk.actions(signalId)).toEqual(['signal.raised', 'signal.acknowledged']);
  });

  it('snoozes instead of acknowledging when a time is given, and once for the same time', async () => {
    const signalId = await desk.raise();
    const snoozeUntil = Date.now() + HOUR_MS;
    const answer = await operator.post('/ack', { signalId, snoozeUntil });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      acknowledgedAt: null,
      acknowledgedBy: null,
      snoozedUntil: snoozeUntil,
    });
    expect((await operator.post('/ack', { signalId, snoozeUntil })).body).toEqual(answer.body);
    expect(await desk.row(signalId)).toMatchObject({
      acknowledged_at: null,
      snoozed_until: new Date(snoozeUntil),
    });
    expect(await desk.actions(signalId)).toEqual(['signal.raised', 'signal.snoozed']);

    const later = snoozeUntil + HOUR_MS;
    expect((await operator.post('/ack', { signalId, snoozeUntil: later })).body.snoozedUntil).toBe(later);
    expect((await operator.post('/ack', { signalId })).body).toMatchObject({
      acknowledgedAt: expect.any(Number),
      snoozedUntil: null,
    });
    expect(await desk.actions(signalId)).toEqual([
      'signal.raised',
      'signal.snoozed',
      'signal.snoozed',
      'signal.acknowledged',
    ]);
  });

  it('takes a snooze of almost a year', async () => {
    const signalId = await desk.raise();
    const snoozeUntil = Date.now() + 365 * 24 * HOUR_MS;
    expect((await operator.post('/ack', { signalId, snoozeUntil })).status).toBe(200);
  });

  it('replays under the same Idempotency-Key', async () => {
    const signalId = await desk.raise();
    const key = { 'Idempotency-Key': `ack-${signalId}` };
    const first = await operator.post('/ack', { signalId }, key);
    const second = await operator.post('/ack', { signalId }, key);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.text).toBe(first.text);
  });

  it('lets a team acknowledge its own signal', async () => {
    const teamId = await test.createTeam(test.workspaceId, 'Sales');
    const seller = await test.createMember(test.workspaceId, 'operator', [teamId]);
    const signalId = await desk.raise({ teamId });
    expect((await seller.post('/ack', { signalId })).body).toMatchObject({ signalId, teamId });
  });
});

describe('POST /ack 401', () => {
  it('answers a caller without a valid token', async () => {
    const signalId = await desk.raise();
    const answer = await operator.post('/ack', { signalId }, { 'x-service-token': 'no' });
    expect(answer.status).toBe(401);
    expect(await desk.row(signalId)).toMatchObject({ acknowledged_at: null });
  });
});

describe('POST /ack 403', () => {
  it('answers a viewer', async () => {
    const viewer = await test.createMember(test.workspaceId, 'viewer');
    const signalId = await desk.raise();
    const answer = await viewer.post('/ack', { signalId });
    expect(answer.status).toBe(403);
    expect(answer.body.error.code).toBe('FORBIDDEN');
    expect(await desk.actions(signalId)).toEqual(['signal.raised']);
  });
});

describe('POST /ack 404', () => {
  const NOT_FOUND = {
    code: 'NOT_FOUND',
    message: 'There is no such resource, or you may not see it.',
    status: 404,
  };

  it.each([
    ['an id that names nothing', () => newId('sig')],
    ['what is no id of a signal', () => 'nonsense'],
    ['no text at all', () => ''],
    ['a signal of another workspace', async () => desk.raise({}, (await test.createWorkspace()).workspaceId)],
    [
      'a signal of a team, to a member of none',
      async () => desk.raise({ teamId: await test.createTeam(test.workspaceId, 'Theirs') }),
    ],
    [
      'a withdrawn signal',
      async () => {
        const signalId = await desk.raise();
        await desk.within(test.workspaceId, (signals) => signals.withdraw(signalId, SYSTEM));
        return signalId;
      },
    ],
  ])('answers %s', async (_case, make) => {
    const signalId = await make();
    const answer = await operator.post('/ack', { signalId });
    expect(answer.status).toBe(404);
    expect(answer.body.error).toEqual(NOT_FOUND);
    expect((await desk.actions(signalId)).filter((action) => action === 'signal.acknowledged')).toEqual([]);
  });

  it('answers a signal of one team to a member of another', async () => {
    const [mine, others] = [
      await test.createTeam(test.workspaceId, 'Mine'),
      await test.createTeam(test.workspaceId, 'Others'),
    ];
    const outsider = await test.createMember(test.workspaceId, 'operator', [mine]);
    const answer = await outsider.post('/ack', { signalId: await desk.raise({ teamId: others }) });
    expect(answer.status).toBe(404);
    expect(answer.body.error).toEqual(NOT_FOUND);
  });
});

describe('POST /ack 409', () => {
  it('answers a snooze of what is acknowledged', async () => {
    const signalId = await desk.raise();
    const { body } = await operator.post('/ack', { signalId });
    const answer = await operator.post('/ack', { signalId, snoozeUntil: Date.now() + HOUR_MS });
    expect(answer.status).toBe(409);
    expect(answer.body.error.code).toBe('INVALID_TRANSITION');
    expect((await operator.post('/ack', { signalId })).body).toEqual(body);
    expect(await desk.actions(signalId)).toEqual(['signal.raised', 'signal.acknowledged']);
  });
});

describe('POST /ack 422', () => {
  it.each([
    ['no signal', {}, ['signalId']],
    ['a signal that is no text', { signalId: 7 }, ['signalId']],
    ['a note that is too long', { signalId: 'sig_x', note: 'x'.repeat(1001) }, ['note']],
    ['a time that is no integer', { signalId: 'sig_x', snoozeUntil: 1.5 }, ['snoozeUntil']],
    ['a time as text', { signalId: 'sig_x', snoozeUntil: '2030-01-01' }, ['snoozeUntil']],
    ['a time that is over', { signalId: 'sig_x', snoozeUntil: 1 }, ['snoozeUntil']],
    ['a time beyond all dates', { signalId: 'sig_x', snoozeUntil: 1e300 }, ['snoozeUntil']],
    ['an unknown property', { signalId: 'sig_x', until: 1 }, ['until']],
    ['several faults at once', { note: 7, snoozeUntil: 'x' }, ['signalId', 'note', 'snoozeUntil']],
  ])('answers %s', async (_case, body, paths) => {
    const answer = await operator.post('/ack', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.code).toBe('VALIDATION_FAILED');
    const named = answer.body.error.details.map(({ path }: { path: string }) => path);
    expect(named).toEqual(paths);
  });

  it('answers a snooze of more than a year', async () => {
    const signalId = await desk.raise();
    const answer = await operator.post('/ack', { signalId, snoozeUntil: Date.now() + 366 * 24 * HOUR_MS });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toEqual([
      {
        path: 'snoozeUntil',
        rule: 'isSnoozeTime',
        message: 'snoozeUntil must be a time in the future, at most one year ahead',
      },
    ]);
    expect(await desk.row(signalId)).toMatchObject({ snoozed_until: null });
  });
});
