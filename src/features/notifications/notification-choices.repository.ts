import { Injectable } from '@nestjs/common';
import type { Caller, Role } from '../../platform/auth/caller.js';
import { scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import { NO_CHOICE, type OwnChoice } from './notification-choice.js';
import { NotificationChoiceEntity } from './notification.entity.js';

type Member = Pick<Caller, 'workspaceId' | 'memberId' | 'role' | 'teamIds'>;

/** A member who may decide something, and what they have chosen. */
export interface DecidingChoice {
  memberId: string;
  email: string;
  own: OwnChoice;
}

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

  /**
   * The active members who may decide what belongs to this team (`mayDecide`), each with what they have chosen: those of the team
   * first, then the most recently active, up to `limit`.
   */
  async ofDeciding(
    workspaceId: string,
    teamId: string | null,
    {
      role,
      only = null,
      except = [],
      limit,
    }: { role: Role; only?: readonly string[] | null; except?: readonly string[]; limit: number },
  ): Promise<DecidingChoice[]> {
    const rows = await this.db.query<OwnChoice & Pick<DecidingChoice, 'memberId' | 'email'>>(
      `select m.member_id, u.email, n.approvals, n.escalations, n.reports, n.quiet_hours,
         coalesce(n.at_any_hour, false) as at_any_hour
       from unnest(app.approvers_of($1, $2, $5, '[]')) able (member_id)
       join members m on m.workspace_id = $1 and m.member_id = able.member_id
       join users u on u.user_id = m.user_id
       left join notification_choices n on n.workspace_id = $1 and n.member_id = m.member_id
       left join team_members tm on tm.workspace_id = $1 and tm.team_id = $2 and tm.member_id = m.member_id
       where m.member_id <> all($3) and ($6::text[] is null or m.member_id = any($6))
       order by tm.member_id is null, m.last_seen_at desc nulls last, m.member_id
       limit $4`,
      [workspaceId, teamId, except, limit, role, only],
    );
    return rows.map(({ memberId, email, ...own }) => ({ memberId, email, own }));
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
