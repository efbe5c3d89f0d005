import { Injectable } from '@nestjs/common';
import type { WorkError, WorkItem } from '../../platform/work/work-item.js';
import { Approvals } from '../approvals/approvals.repository.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { Directives } from './directives.repository.js';
import { EndDirective } from './end-directive.js';

/** Ends a directive that could not be routed or drafted, however often it was tried; in the open transaction. */
@Injectable()
export class GiveUpDraft {
  constructor(
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly directives: Directives,
    private readonly endDirective: EndDirective,
  ) {}

  async execute({ workspaceId, id }: WorkItem, error: WorkError): Promise<void> {
    await this.guardians.lockShared(workspaceId);
    const approval = await this.approvals.lockPending(workspaceId, id);
    const directive = await this.directives.lockDrafting(workspaceId, id);
    if (directive) this.endDirective.giveUp(directive, approval, error);
  }
}
