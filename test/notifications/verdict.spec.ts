import { describe, expect, it } from 'vitest';
import type { Notice } from '../../src/features/notifications/notice-source.js';
import type { NotificationEntity } from '../../src/features/notifications/notification.entity.js';
import { type ToldMember, type Verdict, verdictOn } from '../../src/features/notifications/compose-mail.js';

const OPERATOR: ToldMember['member'] = {
  memberId: 'mem_anna',
  workspaceId: 'wks_northwind',
  role: 'operator',
  teamIds: ['team_sales'],
  teamRoles: { team_sales: 'operator' },
};
const ADMIN: ToldMember['member'] = { ...OPERATOR, role: 'admin', teamIds: [], teamRoles: {} };

const one = { revision: 'first', urgent: false, status: 'waiting' } as const;
const notice: Notice = {
  revision: 'first',
  teamId: 'team_sales',
  role: 'operator',
  isUrgent: false,
  notTo: [],
};
const told: ToldMember = { member: OPERATOR, chosen: 'all', inQuietHours: false };

interface Given {
  one?: Partial<Pick<NotificationEntity, 'revision' | 'urgent' | 'status'>>;
  notice?: Partial<Notice> | null;
  told?: Partial<ToldMember>;
}

describe('what becomes of a notification as a mail is put together', () => {
  it.each<[string, Given, Verdict]>([
    ['what waits', {}, 'tell'],
    ['what nobody has to decide any more', { notice: null }, 'stale'],
    ['what was edited since', { notice: { revision: 'second' } }, 'stale'],
    ['what is of another team by now', { notice: { teamId: 'team_support' } }, 'stale'],
    ['what has no team, for a member who has one', { notice: { teamId: null } }, 'stale'],
    ['what has no team, for an admin', { notice: { teamId: null }, told: { member: ADMIN } }, 'tell'],
    ['what is not for this member', { notice: { notTo: ['mem_anna'] } }, 'stale'],
    ['what only an admin can decide', { notice: { role: 'admin' } }, 'stale'],
    [
      'what only an admin can decide, for one',
      { notice: { role: 'admin' }, told: { member: ADMIN } },
      'tell',
    ],
    [
      'what only an admin of the team can decide, for one',
      { notice: { role: 'admin' }, told: { member: { ...OPERATOR, teamRoles: { team_sales: 'admin' } } } },
      'tell',
    ],
    [
      'what a viewer of the team was told of before',
      { told: { member: { ...OPERATOR, teamRoles: { team_sales: 'viewer' } } } },
      'stale',
    ],
    ['what is chosen as a digest', { told: { chosen: 'digest' } }, 'tell'],
    ['what is not wanted', { told: { chosen: 'none' } }, 'unwanted'],
    ['what is urgent and not wanted', { one: { urgent: true }, told: { chosen: 'none' } }, 'unwanted'],
    ['what is wanted if it is urgent, and is not', { told: { chosen: 'urgent' } }, 'unwanted'],
    ['what was urgent', { one: { urgent: true }, told: { chosen: 'urgent' } }, 'tell'],
    ['what has become urgent', { notice: { isUrgent: true }, told: { chosen: 'urgent' } }, 'tell'],
    ['what is stale and not wanted', { notice: null, told: { chosen: 'none' } }, 'stale'],
    ['what comes in quiet hours', { told: { inQuietHours: true } }, 'later'],
    ['what is urgent in quiet hours', { one: { urgent: true }, told: { inQuietHours: true } }, 'tell'],
    [
      'what stands in a mail as quiet hours begin',
      { one: { status: 'sending' }, told: { inQuietHours: true } },
      'tell',
    ],
    [
      'what was told before, in quiet hours',
      { one: { status: 'sent' }, told: { inQuietHours: true } },
      'tell',
    ],
    [
      'what was told before and is not wanted any more',
      { one: { status: 'sent' }, told: { chosen: 'none' } },
      'unwanted',
    ],
    [
      'what was told before and is of another team by now',
      { one: { status: 'sent' }, notice: { teamId: 'team_support' } },
      'stale',
    ],
  ])('%s', (_what, given, verdict) => {
    const current = given.notice === null ? undefined : { ...notice, ...given.notice };
    expect(verdictOn({ ...one, ...given.one }, current, { ...told, ...given.told })).toBe(verdict);
  });
});
