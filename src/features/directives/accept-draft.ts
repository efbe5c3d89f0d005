import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { ReadyApprovals } from '../approvals/index.js';
import type { Draft } from '../capos/index.js';
import { ChargeUnused } from './charge-unused.js';
import { CheckDraft } from './check-draft.js';
import { DecideDraft } from './decide-draft.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DiscardDraft } from './discard-draft.js';
import { type BeginningDraft, DueDrafts } from './due-drafts.repository.js';

/** A directive that may still be drafted, locked. */
export type FoundDirective = BeginningDraft & { directive: DirectiveEntity };

/** What was drafted before anything was recorded of it. */
export interface UnbegunDraft {
  /** The directive as it was drafted from. */
  of: Pick<
    DirectiveEntity,
    'workspaceId' | 'directiveId' | 'teamId' | 'capo' | 'priority' | 'requiresApproval'
  >;
  draft: Draft;
  /** Whether its capo may begin now, with what it has drafted from. */
  mayBegin: (found: FoundDirective) => boolean;
  /** Records what comes before the draft. */
  begin: (found: FoundDirective) => void;
}

/** What has changed since it was drafted is to be seen to first. */
class Overtaken extends Error {}

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
    private readonly readyApprovals: ReadyApprovals,
  ) {}

  async execute(item: WorkItem, draft: Draft): Promise<void> {
    await this.chargeUnused.after(item, 'draft', draft, () => this.accept(item, draft));
  }

  /**
   * Records in one transaction that the capo began, and accepts what it has made meanwhile. Answers whether it did: nothing is
   * recorded where the directive or what it depends on is another by now.
   */
  async together(item: WorkItem, { of, draft, mayBegin, begin }: UnbegunDraft): Promise<boolean> {
    const packets = await this.checkDraft.execute(of, draft);
    try {
      await this.db.transaction(scopeOfWork(item), async () => {
        const [{ directive, ...locked }, facts, tell] = await Promise.all([
          this.drafts.lockToBegin(item),
          typeof packets === 'string' ? undefined : this.decideDraft.lock(packets, of),
          of.requiresApproval ? this.readyApprovals.lookUp(of.workspaceId, of.teamId) : undefined,
        ]);
        if (!directive || !mayBegin({ ...locked, directive })) throw new Overtaken();
        // Behind the locks: who parks work has locked the guardian before.
        this.work.complete(item);
        begin({ ...locked, directive });
        const checked = { ...locked, directive, draft };
        if (typeof packets === 'string') this.discardDraft.invalid(checked, packets);
        else await this.decideDraft.execute({ ...checked, packets, facts, tell });
      });
      return true;
    } catch (error) {
      if (error instanceof Overtaken) return false;
      throw error;
    }
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
