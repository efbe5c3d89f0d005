import { Injectable } from '@nestjs/common';
import type { WorkError, WorkItem } from '../../platform/work/work-item.js';
import { DueDrafts } from './due-drafts.repository.js';
import { EndDirective } from './end-directive.js';

/** Ends a directive that could not be routed or drafted, however often it was tried; in the open transaction. */
@Injectable()
export class GiveUpDraft {
  constructor(
    private readonly drafts: DueDrafts,
    private readonly endDirective: EndDirective,
  ) {}

  async execute(item: WorkItem, error: WorkError): Promise<void> {
    const { approval, directive } = await this.drafts.lock(item);
    if (directive) this.endDirective.giveUp(directive, approval, error);
  }
}
