import { type NotifyChoice, type StandingMember, mayDecide } from '../workspaces/index.js';
import type { Notice } from './notice-source.js';
import type { NotificationEntity } from './notification.entity.js';

/** What becomes of a notification as a mail is put together. */
export type Verdict =
  | 'tell'
  /** It was decided or changed meanwhile, or this member may not decide it. */
  | 'stale'
  /** The member has chosen not to be told. */
  | 'unwanted'
  /** It waits until the quiet hours end. */
  | 'later';

/** Whom it is for, as they are now. */
export interface ToldMember {
  member: Pick<StandingMember, 'memberId' | 'workspaceId' | 'role' | 'teamIds' | 'teamRoles'>;
  /** What the member has chosen for the kind of thing that it is about. */
  chosen: NotifyChoice;
  inQuietHours: boolean;
}

/** Whether somebody is told of something now, for the first time or again, going by what is so at this moment. */
export function verdictOn(
  notification: Pick<NotificationEntity, 'revision' | 'urgent' | 'status'>,
  notice: Notice | undefined,
  { member, chosen, inQuietHours }: ToldMember,
): Verdict {
  if (notice?.revision !== notification.revision || !mayBeTold(member, notice)) return 'stale';
  if (notice.isImposed) return 'tell';
  const urgent = isUrgentNow(notification, notice);
  if (chosen === 'none' || (chosen === 'urgent' && !urgent)) return 'unwanted';
  // What stands in a mail already may have been sent, and what was told before makes no mail.
  if (inQuietHours && !urgent && notification.status === 'waiting') return 'later';
  return 'tell';
}

/** What was urgent stays so; the rest becomes urgent as its time runs out. */
export function isUrgentNow({ urgent }: Pick<NotificationEntity, 'urgent'>, notice?: Notice): boolean {
  return urgent || notice?.isUrgent === true;
}

function mayBeTold(member: ToldMember['member'], { onlyTo, notTo, teamId, role }: Notice): boolean {
  if (onlyTo && !onlyTo.includes(member.memberId)) return false;
  return !notTo.includes(member.memberId) && mayDecide(member, teamId, role);
}
