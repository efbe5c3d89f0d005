import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, type Role, ROLES, scopeOf } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import type { WorkspaceSettings } from '../workspaces/index.js';
import { choiceOf, NO_CHOICE, type OwnChoice } from './notification-choice.js';
import type { MailedView } from './notification-choices.dto.js';
import { NotificationChoiceEntity } from './notification.entity.js';

type Member = Pick<Caller, 'workspaceId' | 'memberId' | 'role' | 'teamIds'>;

const DECIDING = ROLES.filter((role) => hasRole(role, 'operator'));

/** The members who may decide anything, and where reports go. */
const MAILED = /* sql */ `
select
  (select json_agg(d) from (
    select u.email, n.approvals, n.escalations
    from members m
    join users u on u.user_id = m.user_id
    left join notification_choices n on n.workspace_id = m.workspace_id and n.member_id = m.member_id
    where m.workspace_id = $1 and m.status = 'active' and (m.role = any($2) or exists (
      select from team_members tm join teams t on t.team_id = tm.team_id
      where tm.workspace_id = $1 and tm.member_id = m.member_id and tm.role = any($2) and t.archived_at is null))
    order by m.joined_at, m.member_id limit 200) d) as deciding,
  (select json_agg(r) from (
    select to_.address, to_.reads, n.reports
    from report_configs c
    cross join lateral (
      select u.email as address, m.member_id,
        m.role in ('owner', 'admin') or not exists (select from teams where workspace_id = $1) or exists (
          select from team_members tm join teams t on t.team_id = tm.team_id
          where tm.workspace_id = $1 and tm.member_id = m.member_id and t.archived_at is null) as reads
      from members m join users u on u.user_id = m.user_id
      where m.workspace_id = $1 and m.status = 'active' and (lower(u.email) = lower(c.email_address)
        or m.member_id = any(c.member_ids) or exists (
          select from invites i where i.workspace_id = $1 and i.invite_id = any(c.invite_ids) and i.email = u.email
            and (i.status = 'accepted' or i.status = 'pending' and i.expires_at > now())))
      union all
      select c.email_address, null, true where c.email_address is not null and not exists (
        select from members m join users u on u.user_id = m.user_id
        where m.workspace_id = $1 and lower(u.email) = lower(c.email_address)) and not exists (
        select from invites i where i.workspace_id = $1 and i.email = lower(c.email_address)
          and i.status = 'pending' and i.expires_at > now())) to_
    left join notification_choices n on n.workspace_id = $1 and n.member_id = to_.member_id
    where c.workspace_id = $1 and c.email) r) as reports`;

interface MailedRow {
  deciding: (Pick<OwnChoice, 'approvals' | 'escalations'> & { email: string })[] | null;
  reports: (Pick<OwnChoice, 'reports'> & { address: string; reads: boolean })[] | null;
}

@Injectable()
export class NotificationChoices {
  constructor(
    private readonly db: Db,
    private readonly config: Config,
  ) {}

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

  /** Who is mailed, and where nobody is, why. */
  async mailed(scope: Scope, settings: WorkspaceSettings): Promise<MailedView> {
    const [row] = await this.db.read<MailedRow>(scope, MAILED, [scope.workspaceId, DECIDING]);
    const deciding = row!.deciding ?? [];
    const addressed = row!.reports ?? [];
    const named = addressed.filter(({ reads }) => reads);
    const reachable = deciding.filter(({ email }) => isReachable(email));
    const [approvals, escalations] = (['approvals', 'escalations'] as const).map((what) =>
      reachable
        .filter((own) => choiceOf(settings, { ...NO_CHOICE, ...own })[what] !== 'none')
        .map(({ email }) => email),
    ) as [string[], string[]];
    const reports = named
      .filter(
        ({ address, reports: chosen }) =>
          isReachable(address) && choiceOf(settings, { ...NO_CHOICE, reports: chosen }).reports !== 'none',
      )
      .map(({ address }) => address);
    const advice: string[] = [];
    const isSent = this.config.mailTransport !== 'file';
    if (!isSent)
      advice.push('Mails are written to files and sent to nobody. To send them, set SMTP_URL and MAIL_FROM.');
    if (reachable.length === 0) {
      const addresses = deciding.map(({ email }) => email).slice(0, 3);
      advice.push(
        `Nobody is mailed about approvals and escalations: nobody receives mail at ${addresses.join(', ')}. Invite yourself as owner, at an address of yours: POST /members.`,
      );
    } else {
      const silent = [
        ...(approvals.length === 0 ? ['approvals'] : []),
        ...(escalations.length === 0 ? ['escalations'] : []),
      ].join(' and ');
      if (silent !== '')
        advice.push(
          `Nobody is mailed about ${silent}: everybody who may decide, or the workspace, has chosen "none". Change that with PUT /profile/notifications or PUT /settings.`,
        );
    }
    if (named.length === 0 && addressed.length > 0)
      advice.push(
        'No Daily Report is mailed: the members named are in no team. Add them to one: POST /teams/{id}/members.',
      );
    else if (named.length === 0)
      advice.push('No Daily Report is mailed. Switch its mail on and name a recipient: PUT /reports/config.');
    else if (reports.length === 0)
      advice.push(
        named.some(({ address }) => isReachable(address))
          ? `No Daily Report is mailed: the ${named.length === 1 ? `member at ${named[0]!.address}` : 'members named'}, or the workspace, has chosen "none". Change that with PUT /profile/notifications or PUT /settings.`
          : `No Daily Report is mailed: nobody receives mail at ${named[0]!.address}. Name another recipient: PUT /reports/config.`,
      );
    // What is written to files reaches nobody.
    return isSent
      ? { approvals, escalations, reports, advice }
      : { approvals: [], escalations: [], reports: [], advice };
  }
}
