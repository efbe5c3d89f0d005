import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import type { Draft } from '../capos/index.js';
import { ChargeUnused } from './charge-unused.js';
import { CheckDraft } from './check-draft.js';
import { DecideDraft } from './decide-draft.js';
import { DiscardDraft } from './discard-draft.js';
import { DueDrafts } from './due-drafts.repository.js';

/**
 * Accepts what a capo made: its work packets are checked against the registry, each decided by the guardian; then the draft waits for a
 * person, is released because the standing orders allow it, or ends because one of them forbids it.
 */
@Injectable()
export class AcceptDraft {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly drafts: DueDrafts,
    private readonly checkDraft: CheckDraft,
    private readonly decideDraft: DecideDraft,
    private readonly discardDraft: DiscardDraft,
    private readonly chargeUnused: ChargeUnused,
  ) {}

  async execute(item: WorkItem, draft: Draft): Promise<void> {
    await this.chargeUnused.after(item, 'draft', draft, () => this.accept(item, draft));
  }

  /** Answers whether the directive was charged for the draft; it is not where nobody wants a draft of it any more. */
  private async accept(item: WorkItem, draft: Draft): Promise<boolean> {
    return this.db.transaction(scopeOfWork(item), async () => {
      const { directive, ...locked } = await this.drafts.lock(item);
      this.work.complete(item);
      if (!directive) return false;
      const packets = await this.checkDraft.execute(directive, draft);
      if (typeof packets === 'string') {
        this.discardDraft.invalid({ ...locked, directive, draft }, packets);
      } else {
        await this.decideDraft.execute({ ...locked, directive, draft, packets });
      }
      return true;
    });
  }
}
