import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { type ApprovalEntity, Approvals } from '../approvals/index.js';
import { capoActor, CAPOS, type Paid, paidBefore, PausedCapos, RunnerFailed } from '../capos/index.js';
import { type GuardianEntity, Guardians, isHalted } from '../guardian/index.js';
import { Signals } from '../records/index.js';
import { ChargeUnused } from './charge-unused.js';
import { DirectiveTransitions } from './directive-transitions.js';
import type { DirectiveEntity } from './directive.entity.js';
import { titleOf } from './directive.js';
import { Directives } from './directives.repository.js';
import { EndDirective } from './end-directive.js';

/** What an attempt at a draft locks. */
interface LockedDraft {
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

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A provider that is overloaded or down needs minutes, not seconds. */
const PROVIDER_WAITS = [15 * SECOND, MINUTE, 4 * MINUTE, 15 * MINUTE];
/** A process of our own that ended is there again at once. */
const CRASH_WAITS = [SECOND, 4 * SECOND];

/**
 * An attempt at the draft of a directive. One that fails is made again later, without a slot or a connection in between, or the
 * directive fails; either way the reason stands with the directive and its approval.
 */
@Injectable()
export class DraftAttempts {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly drafts: DueDrafts,
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
    private readonly chargeUnused: ChargeUnused,
    private readonly endDirective: EndDirective,
    private readonly signals: Signals,
    private readonly logger: PinoLogger,
  ) {}

  /** The directive, if it is still to be drafted and its capo may work on it now. */
  begin(item: WorkItem): Promise<DirectiveEntity | undefined> {
    return this.db.transaction(scopeOfWork(item), async () => {
      const { guardian, directive, paused } = await this.drafts.lockToBegin(item);
      if (!directive) return undefined;
      if (isHalted(guardian.mode) || paused.has(directive.capo!)) {
        this.work.park(item);
        return undefined;
      }
      this.recordStart(item, directive, guardian);
      this.work.check(item);
      return directive;
    });
  }

  /** In the open transaction, which has locked both. */
  recordStart(
    item: WorkItem,
    directive: DirectiveEntity,
    { epoch }: GuardianEntity,
    startedAt = this.clock.now(),
  ): void {
    const capo = directive.capo!;
    const receipt = {
      actor: capoActor(capo),
      action: 'directive.started',
      summary: `${CAPOS[capo].name} began to work on "${titleOf(directive.text)}".`,
      guardianEpoch: epoch,
      details: { round: directive.feedback.length },
    };
    if (directive.status === 'queued') {
      directive.status = this.transitions.apply(directive, 'start', receipt);
    } else if (isFirstAttempt(item) || directive.startedAt === null)
      this.transitions.note(directive, receipt);
    if (directive.startedAt === null) this.directives.update(directive, { startedAt });
  }

  /** @throws the error itself, where it is not one with which a runner says that it failed */
  async fail(item: WorkItem, error: unknown): Promise<void> {
    const paid = paidBefore(error);
    if (!(error instanceof RunnerFailed)) {
      await this.chargeUnused.afterFailure(item, 'draft', paid, error);
      throw error;
    }
    if (error.code === 'aborted') {
      await this.chargeUnused.execute(item, 'draft', paid);
      await this.callOff(item);
    } else {
      await this.chargeUnused.after(item, 'draft', paid, () => this.record(item, error, paid));
    }
  }

  /**
   * A kill or another claim has voided the attempt and handles the rest. A message of a kill
   * that was lifted before this attempt began voids nothing: then the draft is made again.
   */
  private async callOff(item: WorkItem): Promise<void> {
    await this.db.transaction(scopeOfWork(item), async () => this.work.reschedule(item, 0));
  }

  /** Answers whether the directive was charged for the draft; it is not where nobody wants a draft of it any more. */
  private async record(item: WorkItem, failure: RunnerFailed, paid: Paid): Promise<boolean> {
    const { workspaceId, id } = item;
    const isWaiting = failure.code === 'model_budget_exceeded';
    const failures = item.failures + (isWaiting ? 0 : 1);
    const waitMs = waitBeforeRetry(failure, failures);
    const error: WorkError = { code: failure.code.toUpperCase(), message: failure.message };
    const isCharged = await this.db.transaction(scopeOfWork(item), async () => {
      const { approval, directive } = await this.drafts.lockWithApproval(item);
      if (!directive) return false;
      // Tokens are paid for even when nothing usable came back.
      this.chargeUnused.forFailure(directive, 'draft', paid, error);
      if (waitMs === undefined) {
        this.endDirective.giveUp(directive, approval, error);
        this.work.complete(item);
        return true;
      }
      if (failures === 2 && !isWaiting) this.warn(directive, error, waitMs);
      this.work.reschedule(item, waitMs, error, isWaiting ? 0 : 1);
      return true;
    });
    // Not the message: it may quote the directive.
    this.logger.warn(
      { directiveId: id, workspaceId, code: error.code, attempt: failures, waitMs },
      waitMs === undefined ? 'a draft was given up' : 'a draft waits for its next attempt',
    );
    return isCharged;
  }

  /** Once, when it has failed a second time: the first may have been chance. */
  private warn(directive: DirectiveEntity, error: WorkError, waitMs: number): void {
    const { capo, teamId, directiveId } = directive;
    const nextAt = new Date(this.clock.now() + waitMs).toISOString();
    this.signals.raise({
      type: 'agent',
      severity: 'warning',
      title: `${CAPOS[capo!].name} cannot draft just now: ${titleOf(directive.text)}`,
      body: `${error.message} It failed twice; the next attempt begins at ${nextAt}.`,
      source: capoActor(capo!),
      teamId,
      capo,
      entity: { type: 'directive', id: directiveId },
    });
  }

  /** Ends a directive that could not be routed or drafted, however often it was tried; in the open transaction. */
  async giveUp(item: WorkItem, error: WorkError): Promise<void> {
    const { approval, directive } = await this.drafts.lock(item);
    if (directive) this.endDirective.giveUp(directive, approval, error);
  }
}

/** How long to wait before the next attempt at a draft that has failed so often, this time included; undefined: it is given up. */
function waitBeforeRetry(
  { code, retryable, waitMs }: Pick<RunnerFailed, 'code' | 'retryable' | 'waitMs'>,
  failures: number,
): number | undefined {
  if (!retryable) return undefined;
  // Nothing is wrong with the draft or the provider: it waits for as long as it takes.
  if (code === 'model_budget_exceeded') return waitMs;
  const own = (code === 'crashed' ? CRASH_WAITS : PROVIDER_WAITS)[failures - 1];
  return own === undefined ? undefined : (waitMs ?? own);
}

export function isFirstAttempt({ failures, crashes, lastError }: WorkItem): boolean {
  return failures + crashes === 0 && lastError === null;
}
