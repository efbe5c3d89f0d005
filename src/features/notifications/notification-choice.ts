import type { NotificationsView, NotifyChoice, ReportChoice } from '../workspaces/index.js';
import { endOfQuietHours, type Hours, nextDigest } from './quiet-hours.js';

/** What a member has chosen over the settings of the workspace; null: those hold. */
export interface OwnChoice {
  approvals: NotifyChoice | null;
  escalations: NotifyChoice | null;
  reports: ReportChoice | null;
  quietHours: Hours | null;
  /** Quiet hours do not hold for this member, neither their own nor the workspace's. */
  atAnyHour: boolean;
}

/** What holds for a member. */
export interface Choice extends NotificationsView {
  quietHours: Hours | null;
}

export const NO_CHOICE: Readonly<OwnChoice> = Object.freeze({
  approvals: null,
  escalations: null,
  reports: null,
  quietHours: null,
  atAnyHour: false,
});

export function choiceOf(
  workspace: { notifications: NotificationsView; quietHours: Hours | null },
  own: OwnChoice,
): Choice {
  const { notifications } = workspace;
  return {
    approvals: own.approvals ?? notifications.approvals,
    escalations: own.escalations ?? notifications.escalations,
    reports: own.reports ?? notifications.reports,
    quietHours: own.atAnyHour ? null : (own.quietHours ?? workspace.quietHours),
  };
}

/** When somebody is told, and whether together with what else waits by then. */
export interface Telling {
  dueAt: number;
  inDigest: boolean;
}

/**
 * When a member is told of something, if at all. Urgent things are told at once, in quiet hours too: before these end, they
 * may have run out, or been decided by members who are awake.
 */
export function whenToTell(
  what: 'approvals' | 'escalations',
  { isUrgent, at, zone }: { isUrgent: boolean; at: number; zone: string },
  choice: Choice,
): Telling | undefined {
  const { quietHours } = choice;
  const chosen = choice[what];
  if (chosen === 'none') return undefined;
  if (isUrgent) return { dueAt: at, inDigest: false };
  switch (chosen) {
    case 'urgent':
      return undefined;
    case 'digest':
      return { dueAt: nextDigest(at, quietHours, zone), inDigest: true };
    case 'all': {
      const end = endOfQuietHours(at, quietHours, zone);
      return { dueAt: end ?? at, inDigest: end !== undefined };
    }
  }
}
