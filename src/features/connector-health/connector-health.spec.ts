import { describe, expect, it } from 'vitest';
import { asShown, type ProbeResult, assessHealth, type HealthChange } from './connector-health.js';
import type { ConnectorKind } from './connector.entity.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const OK: ProbeResult = { kind: 'ok', latencyMs: 12, reason: 'It answers.' };
const SLOW: ProbeResult = { kind: 'ok', latencyMs: 2_001, reason: 'It answers.' };
const FAILED: ProbeResult = { kind: 'failed', reason: 'It refused the connection.' };
const REFUSED: ProbeResult = { kind: 'refused', reason: 'It refused our credentials.' };
const PAUSED: ProbeResult = { kind: 'refused', reason: 'It is paused.', tellsItself: true };

type State = Parameters<typeof assessHealth>[0];

const NEW: State = {
  kind: 'mail',
  consecutiveFailures: 0,
  lastOkAt: null,
  judgedAttemptAt: null,
  healthySince: null,
  alerted: false,
  signalled: false,
  escalated: false,
  alerts: 0,
  recoveredAt: null,
};

/** A connector that is checked whenever it is due, from the time 0 on. */
class Checked {
  now = 0;
  state: State;
  last: HealthChange | undefined;
  readonly told: string[] = [];

  constructor(kind: ConnectorKind = 'mail') {
    this.state = { ...NEW, kind };
  }

  finds(...results: ProbeResult[]): this {
    for (const result of results) {
      const change = assessHealth(this.state, result, this.now);
      this.state = { ...this.state, ...change.changes };
      this.last = change;
      for (const [what, isTold] of Object.entries(change.tell)) if (isTold) this.told.push(what);
      this.now += change.nextInMs;
    }
    return this;
  }
}

const times = (n: number, result: ProbeResult) => Array.from({ length: n }, () => result);

describe('assessHealth', () => {
  it.each<[string, ProbeResult[], string]>([
    ['one that answers', [OK], 'green'],
    ['one that takes two seconds', [{ ...OK, latencyMs: 2_000 }], 'green'],
    ['one that takes longer', [SLOW], 'yellow'],
    ['one that failed once', [OK, FAILED], 'yellow'],
    ['one that failed twice', [OK, ...times(2, FAILED)], 'yellow'],
    ['one that failed three times', [OK, ...times(3, FAILED)], 'red'],
    ['one that answers again', [...times(3, FAILED), OK], 'green'],
    ['one that answers slowly again', [...times(3, FAILED), SLOW], 'yellow'],
    ['one that refused our credentials once', [OK, REFUSED], 'red'],
    ['failures with a success between them', [FAILED, FAILED, OK, FAILED, FAILED], 'yellow'],
  ])('finds %s', (_what, results, status) => {
    expect(new Checked().finds(...results).last!.changes.status).toBe(status);
  });

  it('says of a slow one how slow it is', () => {
    expect(new Checked().finds(SLOW).last!.changes.reason).toBe(
      'It answers. It is slow: it took 2.0 seconds.',
    );
  });

  it('counts failures in a row, and from when on it was healthy', () => {
    const failing = new Checked().finds(OK, FAILED, FAILED);
    expect(failing.last!.changes).toMatchObject({ consecutiveFailures: 2, lastOkAt: 0, healthySince: null });
    const at = failing.now;
    expect(failing.finds(OK).last!.changes).toMatchObject({
      consecutiveFailures: 0,
      lastOkAt: at,
      healthySince: at,
    });
  });

  it('tells once that it is red and once that it has recovered', () => {
    const mail = new Checked().finds(OK, ...times(10, FAILED), ...times(10, OK));
    expect(mail.told).toEqual(['signal', 'escalate', 'recovered']);
  });

  it('does not tell a recovery that did not last', () => {
    const mail = new Checked().finds(...times(3, FAILED));
    for (let round = 0; round < 20; round++) mail.finds(OK, FAILED, FAILED, FAILED);
    expect(mail.told).toEqual(['signal', 'escalate']);
  });

  it('asks a person once for each time that it tells, and again after a check that a person asked for', () => {
    const mail = new Checked().finds(...times(5, FAILED));
    mail.state = { ...mail.state, escalated: false };
    mail.finds(...times(5, FAILED));
    expect(mail.told).toEqual(['signal', 'escalate', 'escalate']);
  });

  it('tells ten times a day at the most of one that comes and goes, however it does so', () => {
    for (const healthyFor of [1, 2, 3, 5, 8, 13, 60, 360]) {
      const mail = new Checked();
      while (mail.now < 10 * DAY) mail.finds(...times(3, FAILED), ...times(healthyFor, OK));
      const told = mail.told.filter((what) => what === 'signal').length;
      expect(told, `healthy for ${healthyFor} checks`).toBeLessThanOrEqual(10 * 10);
    }
  });

  it('forgets after a day that it has failed before', () => {
    const mail = new Checked().finds(...times(3, FAILED), ...times(5, OK));
    expect(mail.state.alerts).toBe(1);
    mail.finds(...times(3, FAILED));
    expect(mail.state.alerts).toBe(2);
    mail.finds(...times(5, OK));
    mail.now += DAY;
    mail.finds(...times(3, FAILED));
    expect(mail.state.alerts).toBe(1);
  });

  it('leaves it to others to tell what they have told already', () => {
    const webhook = new Checked('webhook').finds(PAUSED, ...times(5, OK));
    expect(webhook.told).toEqual(['recovered']);
  });

  it('tells of a destination that was resumed and fails still, once', () => {
    const webhook = new Checked('webhook').finds(...times(4, PAUSED));
    expect(webhook.told).toEqual([]);
    webhook.finds(...times(5, FAILED));
    expect(webhook.told).toEqual(['signal', 'escalate']);
    webhook.finds(PAUSED, FAILED, ...times(10, OK));
    expect(webhook.told).toEqual(['signal', 'escalate', 'recovered']);
  });

  it('counts an attempt to send something once, however often it is found', () => {
    const attempt = (attemptedAt: number): ProbeResult => ({ ...FAILED, attemptedAt });
    const webhook = new Checked('webhook').finds(OK, ...times(10, attempt(5)));
    expect(webhook.state).toMatchObject({ consecutiveFailures: 1 });
    expect(webhook.last!.changes.status).toBe('yellow');
    webhook.finds(...times(4, attempt(6)));
    expect(webhook.last!.changes).toMatchObject({ status: 'yellow', consecutiveFailures: 2 });
    webhook.finds(attempt(7));
    expect(webhook.last!.changes).toMatchObject({ status: 'red', consecutiveFailures: 3 });
    webhook.finds(attempt(7));
    expect(webhook.last!.changes).toMatchObject({ status: 'red', consecutiveFailures: 3 });
    expect(webhook.told).toEqual(['signal', 'escalate']);
  });

  it('does not count an attempt as new because a check of its own failed or succeeded meanwhile', () => {
    const attempt: ProbeResult = { ...FAILED, attemptedAt: 5 };
    const webhook = new Checked('webhook').finds(attempt, FAILED, attempt);
    expect(webhook.state.consecutiveFailures).toBe(2);
    webhook.finds(OK, attempt);
    expect(webhook.last!.changes).toMatchObject({ status: 'yellow', consecutiveFailures: 1 });
  });

  it('looks soon where it is not sure, and not often where credentials are refused', () => {
    expect(new Checked().finds(OK).last!.nextInMs).toBe(5 * MINUTE);
    expect(new Checked().finds(FAILED).last!.nextInMs).toBe(MINUTE);
    expect(new Checked().finds(...times(3, FAILED)).last!.nextInMs).toBe(5 * MINUTE);
    expect(new Checked().finds(...times(3, FAILED), OK).last!.nextInMs).toBe(MINUTE);
    expect(new Checked().finds(REFUSED).last!.nextInMs).toBe(15 * MINUTE);
    expect(new Checked('webhook').finds(OK).last!.nextInMs).toBe(30 * MINUTE);
    expect(new Checked('partner').finds(OK).last!.nextInMs).toBe(HOUR);
  });
});

describe('asShown', () => {
  it.each([
    ['mail', 'green', false, 'green'],
    ['mail', 'green', true, 'yellow'],
    ['mail', 'red', true, 'red'],
    ['queue', 'green', true, 'red'],
  ] as const)('shows %s, last %s, overdue: %s as %s', (kind, status, overdue, shown) => {
    expect(asShown({ kind, status, reason: 'It answers.', overdue, unknown: false }).status).toBe(shown);
  });

  it.each([
    ['green', 'yellow'],
    ['yellow', 'yellow'],
    ['red', 'red'],
  ] as const)('shows one that no process knows, last %s, as %s', (status, shown) => {
    const known = { kind: 'http', reason: 'It answers.', overdue: false, unknown: true } as const;
    expect(asShown({ ...known, status }).status).toBe(shown);
  });
});
