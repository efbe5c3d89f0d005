import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { dayBefore, dayOf, knownZone } from '../../platform/kernel/local-day.js';
import { CustomSectionEntity, ReportConfigEntity } from './report.entity.js';

/** What a workspace wants of its reports, with what its settings say. */
export interface Configured extends ReportConfigEntity {
  /** Those who are members still, and those who have accepted one of the invites. */
  memberIds: string[];
  /** Those that can be accepted still. */
  inviteIds: string[];
  /** Whether the address is that of somebody who is invited and no member yet. */
  isAddressInvited: boolean;
  /** The configured one, else the workspace's; UTC where this program or the database has lost it. */
  zone: string;
  workspaceName: string;
  /** The workspace's. */
  currency: string;
  /** Unix milliseconds. */
  createdAt: number;
}

interface ConfiguredRow extends Configured {
  hasReports: boolean;
}

const OPEN = `i.status = 'pending' and i.expires_at > now()`;
const OF_NO_MEMBER = /* sql */ `not exists (select from members m join users u on u.user_id = m.user_id
  where m.workspace_id = i.workspace_id and m.status = 'active' and u.email = i.email)`;

const CONFIGURED = /* sql */ `
select ${columnsOf(ReportConfigEntity, { of: 'c', without: ['memberIds', 'inviteIds'] })},
  array(select m.member_id from members m join users u on u.user_id = m.user_id
    where m.workspace_id = c.workspace_id and m.status = 'active' and (m.member_id = any(c.member_ids) or exists (
      select from invites i where i.workspace_id = c.workspace_id and i.invite_id = any(c.invite_ids) and i.email = u.email
        and (i.status = 'accepted' or ${OPEN})))
    order by array_position(c.member_ids, m.member_id), m.joined_at, m.member_id) as member_ids,
  array(select i.invite_id from invites i where i.workspace_id = c.workspace_id and i.invite_id = any(c.invite_ids)
    and ${OPEN} and ${OF_NO_MEMBER} order by i.created_at, i.invite_id) as invite_ids,
  exists (select from invites i where i.workspace_id = c.workspace_id and i.email = lower(c.email_address)
    and ${OPEN} and ${OF_NO_MEMBER}) as is_address_invited,
  exists (select from reports r where r.workspace_id = c.workspace_id) as has_reports, w.name as workspace_name,
  app.zone_or_utc(coalesce(c.timezone, w.timezone)) as zone, w.currency, w.created_at
from report_configs c join workspaces w on w.workspace_id = c.workspace_id
where c.workspace_id = $1`;

const COLUMNS = columnsOf(CustomSectionEntity);

@Injectable()
export class ReportConfigs {
  constructor(private readonly db: Db) {}

  async read(scope: Scope): Promise<Configured> {
    const [row] = await this.db.read<ConfiguredRow>(scope, CONFIGURED, [scope.workspaceId]);
    return configuredOf(row!);
  }

  /** Reports of a workspace are made by one transaction at a time. */
  async lock(workspaceId: string): Promise<Configured> {
    const [row] = await this.db.query<ConfiguredRow>(`${CONFIGURED} for update of c`, [workspaceId]);
    return configuredOf(row!);
  }

  update(workspaceId: string, change: Partial<ReportConfigEntity>): void {
    this.db.update(ReportConfigEntity, { workspaceId }, change);
  }

  /** The invites with these ids, or to this address, that a recipient can be chosen by: accepted, or open still. */
  async invites(
    workspaceId: string,
    { inviteIds, address }: { inviteIds: readonly string[]; address: string | null },
  ): Promise<{ inviteId: string; isOfAddress: boolean }[]> {
    return this.db.query(
      `select i.invite_id, coalesce(i.email = $3 and ${OPEN} and ${OF_NO_MEMBER}, false) as is_of_address
       from invites i where i.workspace_id = $1 and (i.invite_id = any($2) or i.email = $3)
         and (i.status = 'accepted' or ${OPEN})
       order by i.created_at, i.invite_id`,
      [workspaceId, inviteIds, address],
    );
  }

  addSection(section: CustomSectionEntity): void {
    this.db.insert(CustomSectionEntity, section);
  }

  /** All of a workspace, which are few, the oldest first. */
  sections(scope: Scope): Promise<CustomSectionEntity[]> {
    return this.db.read<CustomSectionEntity>(
      scope,
      `select ${COLUMNS} from custom_report_sections where workspace_id = $1 order by created_at, section_id`,
      [scope.workspaceId],
    );
  }

  /** Undefined when there is none. */
  async deleteSection(workspaceId: string, sectionId: string): Promise<CustomSectionEntity | undefined> {
    const [section] = await this.db.query<CustomSectionEntity>(
      `delete from custom_report_sections where workspace_id = $1 and section_id = $2 returning ${COLUMNS}`,
      [workspaceId, sectionId],
    );
    return section;
  }
}

/** Where the zone has moved west, the day before the first one is the first one: nobody has reported its hours. */
function configuredOf({ hasReports, ...configured }: ConfiguredRow): Configured {
  const zone = knownZone(configured.zone);
  const isFirst = !hasReports && configured.lastDate === dayOf(configured.createdAt, zone);
  return { ...configured, zone, ...(isFirst && { lastDate: dayBefore(configured.lastDate!, zone) }) };
}
