import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { CustomSectionEntity } from './custom-section.entity.js';
import { CustomSections } from './custom-sections.repository.js';

/** Takes a section out of the reports to come; those that were made keep it. */
@Injectable()
export class DeleteCustomSection {
  constructor(
    private readonly sections: CustomSections,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound */
  async execute(caller: Caller, sectionId: string): Promise<CustomSectionEntity> {
    const section = isId('sec', sectionId)
      ? await this.sections.delete(caller.workspaceId, sectionId)
      : undefined;
    if (!section) throw new NotFound();
    this.receipts.append({
      actor: actorOf(caller),
      action: 'report_section.deleted',
      entity: { type: 'report_section', id: sectionId },
      capo: section.capo,
      summary: `${caller.name} took the section "${section.title}" out of the Daily Report.`,
      details: { title: section.title },
    });
    return section;
  }
}
