import { describe, expect, it } from 'vitest';
import { isReachable } from '../../src/platform/kernel/mail-address.js';
import {
  choiceOf,
  type Mailbox,
  nextMail,
  NO_CHOICE,
  whenToTell,
} from '../../src/features/notifications/notification-choice.js';
import type { NotifyChoice } from '../../src/features/workspaces/notifications.dto.js';

const NIGHT = { from: '22:00', to: '07:00' };
const DAY = Date.UTC(2026, 1, 18, 12);
const EVENING = Date.UTC(2026, 1, 18, 23);
const MORNING = Date.UTC(2026, 1, 19, 7);
const MINUTE = 60_000;

describe('when a member is told', () => {
  it.each<[NotifyChoice, 'urgent' | 'other', number, { dueAt: number; inDigest: boolean } | undefined]>([
    ['all', 'other', DAY, { dueAt: DAY, inDigest: false }],
    ['all', 'other', EVENING, { dueAt: MORNING, inDigest: true }],
    ['all', 'urgent', EVENING, { dueAt: EVENING, inDigest: false }],
    ['urgent', 'other', DAY, undefined],
    ['urgent', 'urgent', EVENING, { dueAt: EVENING, inDigest: false }],
    ['digest', 'other', DAY, { dueAt: MORNING, inDigest: true }],
    ['digest', 'urgent', DAY, { dueAt: DAY, inDigest: false }],
    ['none', 'other', DAY, undefined],
    ['none', 'urgent', DAY, undefined],
  ])('%s: what is %s, at %i', (approvals, urgency, at, telling) => {
    const choice = { approvals, escalations: 'all', reports: 'all', quietHours: NIGHT } as const;
    expect(whenToTell('approvals', { isUrgent: urgency === 'urgent', at, zone: 'UTC' }, choice)).toEqual(
      telling,
    );
  });

  it('holds what a member has chosen over what the workspace says', () => {
    const workspace = {
      notifications: { approvals: 'digest', escalations: 'all', reports: 'all' },
      quietHours: NIGHT,
    } as const;
    const own = { from: '12:00', to: '13:00' };
    expect(choiceOf(workspace, NO_CHOICE)).toEqual({ ...workspace.notifications, quietHours: NIGHT });
    expect(choiceOf(workspace, { ...NO_CHOICE, approvals: 'none', quietHours: own })).toEqual({
      approvals: 'none',
      escalations: 'all',
      reports: 'all',
      quietHours: own,
    });
    expect(choiceOf(workspace, { ...NO_CHOICE, quietHours: own, atAnyHour: true }).quietHours).toBeNull();
  });

  it.each([
    ['mira@northwind.example', true],
    ['owner@example.com', false],
    ['owner@mail.EXAMPLE.org', false],
    ['owner@myexample.com', true],
    ['owner', false],
    ['', false],
  ])('can reach %s: %s', (email, reachable) => {
    expect(isReachable(email)).toBe(reachable);
  });
});

describe('the next mail', () => {
  const box: Mailbox = {
    due: 1,
    dueInDigest: 0,
    urgent: 0,
    urgentAt: null,
    singles: 0,
    digestAt: null,
  };
  it.each<[string, Partial<Mailbox>, ReturnType<typeof nextMail>]>([
    ['is none when nothing is due', { due: 0 }, { mail: 'none' }],
    ['is about one thing', {}, { mail: 'single' }],
    ['is about one thing that waited for the morning', { dueInDigest: 1 }, { mail: 'single' }],
    ['is about one of three', { due: 3 }, { mail: 'single' }],
    ['is a digest of four', { due: 4 }, { mail: 'digest' }],
    ['is a digest of two of which one waited', { due: 2, dueInDigest: 1 }, { mail: 'digest' }],
    ['is a digest of ten thousand', { due: 10_000 }, { mail: 'digest' }],
    ['is a digest after eight in an hour', { singles: 8 }, { mail: 'digest' }],
    ['waits after a digest', { due: 4, digestAt: DAY - 5 * MINUTE }, { mail: 'later', waitMs: 10 * MINUTE }],
    [
      'is a digest a quarter of an hour after the last',
      { due: 4, digestAt: DAY - 15 * MINUTE },
      { mail: 'digest' },
    ],
    [
      'is about the urgent one at once, whatever the limits',
      { due: 9, urgent: 1, singles: 8, digestAt: DAY - MINUTE },
      { mail: 'single' },
    ],
    [
      'is a digest of the urgent ones at once, whatever the limits',
      { due: 9, urgent: 5, singles: 8, digestAt: DAY - MINUTE },
      { mail: 'digest' },
    ],
    [
      'waits at most a minute after the last urgent one',
      { due: 9, urgent: 5, singles: 8, digestAt: DAY - MINUTE / 4, urgentAt: DAY - MINUTE / 4 },
      { mail: 'later', waitMs: (MINUTE / 4) * 3 },
    ],
    ['is about one thing after a digest', { digestAt: DAY - MINUTE }, { mail: 'single' }],
  ])('%s', (_what, given, next) => {
    expect(nextMail({ ...box, ...given }, DAY)).toEqual(next);
  });

  it('is at most the twelfth in an hour, whatever comes', () => {
    const sent: { at: number; digest: boolean }[] = [];
    for (let now = 0; now < 5 * 60 * MINUTE; now += MINUTE / 2) {
      const lately = sent.filter(({ at }) => at > now - 60 * MINUTE);
      const digests = lately.filter(({ digest }) => digest);
      const next = nextMail(
        {
          due: (now % 7) + 1,
          dueInDigest: 0,
          urgent: 0,
          urgentAt: null,
          singles: lately.length - digests.length,
          digestAt: digests.at(-1)?.at ?? null,
        },
        now,
      );
      if (next.mail === 'single' || next.mail === 'digest')
        sent.push({ at: now, digest: next.mail === 'digest' });
      expect(sent.filter(({ at }) => at > now - 60 * MINUTE).length).toBeLessThanOrEqual(12);
    }
    expect(sent.length).toBeGreaterThan(40);
  });
});
