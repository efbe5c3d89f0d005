import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { CustomSectionEntity } from './custom-section.entity.js';

const COLUMNS = columnsOf(CustomSectionEntity);

@Injectable()
export class CustomSections {
  constructor(private readonly db: Db) {}

  add(section: CustomSectionEntity): void {
    this.db.insert(CustomSectionEntity, section);
  }

  /** All of a workspace, which are few, the oldest first. */
  list(scope: Scope): Promise<CustomSectionEntity[]> {
    return this.db.read<CustomSectionEntity>(
      scope,
      `select ${COLUMNS} from custom_report_sections where workspace_id = $1 order by created_at, section_id`,
      [scope.workspaceId],
    );
  }

  /** Undefined when there is none. */
  async delete(workspaceId: string, sectionId: string): Promise<CustomSectionEntity | undefined> {
    const [section] = await this.db.query<CustomSectionEntity>(
      `delete from custom_report_sections where workspace_id = $1 and section_id = $2 returning ${COLUMNS}`,
      [workspaceId, sectionId],
    );
    return section;
  }
}
