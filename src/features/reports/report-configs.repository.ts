import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { knownZone } from '../../platform/kernel/local-day.js';
import { CustomSectionEntity } from './custom-section.entity.js';
import { ReportConfigEntity } from './report-config.entity.js';

/** What a workspace wants of its reports, with what its settings say. */
export interface Configured extends ReportConfigEntity {
  /** Those who are members still. */
  memberIds: string[];
  /** The configured one, else the workspace's; UTC where this program or the database has lost it. */
  zone: string;
  workspaceName: string;
  /** The workspace's. */
  currency: string;
  /** Unix milliseconds. */
  createdAt: number;
}

const CONFIGURED = /* sql */ `
select ${columnsOf(ReportConfigEntity, { of: 'c', without: ['memberIds'] })},
  array(select id from unnest(c.member_ids) with ordinality named (id, n) join members m
    on m.workspace_id = c.workspace_id and m.member_id = id and m.status = 'active' order by n) as member_ids, w.name as workspace_name,
  app.zone_or_utc(coalesce(c.timezone, w.timezone)) as zone, w.currency, w.created_at
from report_configs c join workspaces w on w.workspace_id = c.workspace_id
where c.workspace_id = $1`;

const COLUMNS = columnsOf(CustomSectionEntity);

@Injectable()
export class ReportConfigs {
  constructor(private readonly db: Db) {}

  async read(scope: Scope): Promise<Configured> {
    const [row] = await this.db.read<Configured>(scope, CONFIGURED, [scope.workspaceId]);
    return withKnownZone(row!);
  }

  /** Reports of a workspace are made by one transaction at a time. */
  async lock(workspaceId: string): Promise<Configured> {
    const [row] = await this.db.query<Configured>(`${CONFIGURED} for update of c`, [workspaceId]);
    return withKnownZone(row!);
  }

  update(workspaceId: string, change: Partial<ReportConfigEntity>): void {
    this.db.update(ReportConfigEntity, { workspaceId }, change);
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

function withKnownZone(configured: Configured): Configured {
  return { ...configured, zone: knownZone(configured.zone) };
}
