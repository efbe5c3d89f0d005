import { Injectable } from '@nestjs/common';
import type { Caller, Role } from '../../platform/auth/caller.js';
import { scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import { NO_CHOICE, type OwnChoice } from './notification-choice.js';
import { NotificationChoiceEntity } from './notification.entity.js';

type Member = Pick<Caller, 'workspaceId' | 'memberId' | 'role' | 'teamIds'>;

@Injectable()
export class NotificationChoices {
  constructor(private readonly db: Db) {}

  async of(member: Member): Promise<OwnChoice> {
    const { workspaceId, memberId } = member;
    const row = await this.db.findOne(scopeOf(member), NotificationChoiceEntity, { workspaceId, memberId });
    if (!row) return NO_CHOICE;
    const { workspaceId: _workspace, memberId: _member, ...own } = row;
    return own;
  }

  /** What these members have chosen; those who have chosen nothing are left out. */
  async ofAll(workspaceId: string, memberIds: readonly string[]): Promise<Map<string, OwnChoice>> {
    const rows = await this.db.query<NotificationChoiceEntity>(
      `select ${columnsOf(NotificationChoiceEntity)} from notification_choices
       where workspace_id = $1 and member_id = any($2)`,
      [workspaceId, memberIds],
    );
    return new Map(rows.map((row) => [row.memberId, row]));
  }

  /** {@link ofAll} of the members who have this role in the team, or where there is none. */
  async ofDeciding(workspaceId: string, teamId: string | null, role: Role): Promise<Map<string, OwnChoice>> {
    const rows = await this.db.query<NotificationChoiceEntity>(
      `select ${columnsOf(NotificationChoiceEntity)} from notification_choices
       where workspace_id = $1 and member_id = any(app.approvers_of($1, $2, $3, '[]'))`,
      [workspaceId, teamId, role],
    );
    return new Map(rows.map((row) => [row.memberId, row]));
  }

  /** Of two changes at once the later one wins, for all that it names or leaves as it had read it. */
  save({ workspaceId, memberId }: Member, own: OwnChoice): void {
    const { approvals, escalations, reports, quietHours, atAnyHour } = own;
    this.db.write(
      `insert into notification_choices (workspace_id, member_id, approvals, escalations, reports, quiet_hours, at_any_hour)
       values ($1, $2, $3, $4, $5, $6::jsonb, $7)
       on conflict (workspace_id, member_id) do update set approvals = excluded.approvals,
         escalations = excluded.escalations, reports = excluded.reports, quiet_hours = excluded.quiet_hours,
         at_any_hour = excluded.at_any_hour`,
      [
        ...[workspaceId, memberId, approvals, escalations, reports],
        quietHours === null ? null : JSON.stringify(quietHours),
        atAnyHour,
      ],
    );
  }
}
