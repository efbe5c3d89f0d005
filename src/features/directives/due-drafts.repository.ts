import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import type { WorkItem } from '../../platform/work/work-item.js';
import { type ApprovalEntity, Approvals } from '../approvals/index.js';
import { PausedCapos } from '../capos/index.js';
import { type GuardianEntity, Guardians } from '../guardian/index.js';
import type { DirectiveEntity } from './directive.entity.js';
import { Directives } from './directives.repository.js';

/** What an attempt at a draft locks. */
export interface LockedDraft {
  guardian: GuardianEntity;
  /** The one that waits for the draft, if one does. */
  approval: ApprovalEntity | undefined;
  /** Missing when it is not one that may be drafted any more. */
  directive: DirectiveEntity | undefined;
}

/** What one locks that begins. */
export interface BeginningDraft extends LockedDraft {
  /** The capos that are paused. */
  paused: ReadonlySet<string>;
}

/** Directives that a capo may still draft, each behind what is locked before it: the guardian, and its approval. */
@Injectable()
export class DueDrafts {
  constructor(
    private readonly db: Db,
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly directives: Directives,
    private readonly paused: PausedCapos,
  ) {}

  /** For an attempt that begins, with the capos that are paused. */
  async lockToBegin({ workspaceId, id }: WorkItem): Promise<BeginningDraft> {
    // The directive is locked before its capo is looked up: a resume waits for the lock, and then finds it parked.
    const [[guardian], [approval], [directive], paused] = (await this.db.unit.batch([
      ...this.locks(workspaceId, id),
      this.paused.statement(workspaceId),
    ])) as [[GuardianEntity], [ApprovalEntity?], [DirectiveEntity?], { capo: string }[]];
    return { guardian, approval, directive, paused: new Set(paused.map(({ capo }) => capo)) };
  }

  /** For a draft that was made, or is given up. */
  async lock({ workspaceId, id }: WorkItem): Promise<LockedDraft> {
    const [[guardian], [approval], [directive]] = (await this.db.unit.batch(this.locks(workspaceId, id))) as [
      [GuardianEntity],
      [ApprovalEntity?],
      [DirectiveEntity?],
    ];
    return { guardian, approval, directive };
  }

  /** For an attempt that made no draft: it does not depend on the guardian. */
  async lockWithApproval({ workspaceId, id }: WorkItem): Promise<Omit<LockedDraft, 'guardian'>> {
    const [[approval], [directive]] = (await this.db.unit.batch([
      this.approvals.lockPendingStatement(workspaceId, id),
      this.directives.lockDraftingStatement(workspaceId, id),
    ])) as [[ApprovalEntity?], [DirectiveEntity?]];
    return { approval, directive };
  }

  private locks(workspaceId: string, directiveId: string): Statement[] {
    return [
      this.guardians.lockSharedStatement(workspaceId),
      this.approvals.lockPendingStatement(workspaceId, directiveId),
      this.directives.lockDraftingStatement(workspaceId, directiveId),
    ];
  }
}
