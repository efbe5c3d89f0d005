import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { CustomSectionEntity } from './custom-section.entity.js';
import type { CustomSectionBody } from './custom-sections.dto.js';
import { CustomSections } from './custom-sections.repository.js';
import { ReportConfigs } from './report-configs.repository.js';
import { TooManySections } from './reports.errors.js';

const MOST = 10;

/** Adds a section of the workspace's own, which its capo writes anew for each report from now on. */
@Injectable()
export class AddCustomSection {
  constructor(
    private readonly configs: ReportConfigs,
    private readonly sections: CustomSections,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws TooManySections */
  async execute(caller: Caller, body: CustomSectionBody): Promise<CustomSectionEntity> {
    const { workspaceId } = caller;
    // Of two that add the last one at the same time the second waits, and then counts both.
    await this.configs.lock(workspaceId);
    const existing = await this.sections.list({ workspaceId, teamIds: 'all' });
    if (existing.length >= MOST) throw new TooManySections({ details: { limit: MOST } });
    const section: CustomSectionEntity = {
      workspaceId,
      sectionId: newId('sec'),
      title: body.title,
      directive: body.directive,
      capo: body.capo,
      includeInReport: body.includeInReport ?? true,
      createdBy: actorOf(caller),
      createdAt: this.clock.now(),
    };
    this.sections.add(section);
    const { sectionId, title, capo, includeInReport } = section;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'report_section.created',
      entity: { type: 'report_section', id: sectionId },
      capo,
      summary: `${caller.name} added the section "${title}" to the Daily Report.`,
      details: { title, includeInReport },
    });
    return section;
  }
}
