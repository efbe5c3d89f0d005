import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Jobs, type JobTarget } from '../../platform/jobs/jobs.js';
import { backoffMs, withLease } from '../../platform/jobs/lease.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Approvals } from '../approvals/approvals.repository.js';
import { type CapoRunner, type Draft, RunnerFailed } from '../capos/briefing.js';
import { CAPOS } from '../capos/capo.js';
import { capoActor } from '../capos/capo-actor.js';
import { CAPO_RUNNER } from '../capos/capos.module.js';
import { PausedCapos } from '../capos/paused-capos.repository.js';
import { BriefingReader } from '../capos/briefing.reader.js';
import type { GuardianEntity } from '../guardian/guardian.entity.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { Runs } from '../guardian/runs.js';
import { AcceptDraft } from './accept-draft.js';
import { EndDirective } from './end-directive.js';
import { addCost, titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveJournal } from './directive-journal.js';
import { Directives } from './directives.repository.js';

const MAX_ATTEMPTS = 3;

/**
 * Lets a capo make the draft: takes the directive up, gives the capo the full context (SPECIFICATION, Context), and
 * hands what it made to the guardian. No transaction is open while the capo works; what it makes counts only if the
 * directive is still this attempt's.
 */
@Injectable()
export class DraftDirective implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly approvals: Approvals,
    private readonly paused: PausedCapos,
    private readonly briefings: BriefingReader,
    @Inject(CAPO_RUNNER) private readonly runner: CapoRunner,
    private readonly runs: Runs,
    private readonly acceptDraft: AcceptDraft,
    private readonly endDirective: EndDirective,
    private readonly journal: DirectiveJournal,
  ) {}

  onModuleInit(): void {
    this.jobs.handle('directive.draft', (target, scope) => this.execute(target, scope));
  }

  /** Listens for a kill from before the directive is taken up, so that none falls between taking up and running. */
  private execute(target: JobTarget, scope: Scope): Promise<void> {
    return this.runs.during(target.workspaceId, (killed) => this.draft(target, scope, killed));
  }

  private async draft(target: JobTarget, scope: Scope, killed: AbortSignal): Promise<void> {
    const directive = await this.takeUp(target, scope);
    if (!directive) return;
    let draft: Draft;
    try {
      draft = await this.run(directive, scope, killed);
    } catch (error) {
      if (!(error instanceof RunnerFailed)) throw error;
      // Aborted by a kill or by the loss of the lease: the attempt is void, and whoever voided it sees to the rest.
      if (error.code !== 'aborted') await this.recordFailure(directive, error, scope);
      return;
    }
    await this.acceptDraft.execute(directive, draft, scope);
  }

  private takeUp({ workspaceId, id }: JobTarget, scope: Scope): Promise<DirectiveEntity | undefined> {
    return this.db.transaction(scope, async (unit) => {
      const now = this.clock.now();
      const [[guardian], paused, [directive]] = (await unit.batch([
        this.guardians.lockSharedStatement(workspaceId),
        this.paused.statement(workspaceId),
        this.directives.claimStatement(workspaceId, id, 'draft', now),
      ])) as [[GuardianEntity], { capo: string }[], [DirectiveEntity?]];
      if (!directive) return undefined;
      if (guardian.mode === 'killed' || paused.some(({ capo }) => capo === directive.capo)) {
        this.directives.rest(directive, now);
        return undefined;
      }
      // A halted directive was queued again with its attempts kept, so the count alone does not tell.
      if (directive.attempts === 1 || directive.status !== directive.history.at(-1)!.to) {
        this.recordStart(directive, guardian);
      }
      return directive;
    });
  }

  private recordStart(directive: DirectiveEntity, guardian: GuardianEntity): void {
    const capo = directive.capo!;
    const before = directive.history.at(-1)!.to;
    const receiptId = this.journal.note(
      directive,
      capoActor(capo),
      'directive.started',
      `${CAPOS[capo].name} began to work on "${titleOf(directive.text)}".`,
      { guardianEpoch: guardian.epoch, details: { round: directive.feedback.length } },
    );
    if (before === directive.status) return;
    const change = { from: before, to: directive.status, at: this.clock.now(), receiptId };
    this.directives.appendHistory(directive, change);
  }

  private async run(directive: DirectiveEntity, scope: Scope, killed: AbortSignal): Promise<Draft> {
    const briefing = await this.briefings.read(scope, directive);
    const { directiveId, attempts } = directive;
    return withLease(
      () => this.directives.extendLease(scope, directiveId, attempts, this.clock.now()),
      (signal) => this.runner.run(briefing, { signal }),
      killed,
    );
  }

  private async recordFailure(
    directive: DirectiveEntity,
    failure: RunnerFailed,
    scope: Scope,
  ): Promise<void> {
    await this.db.transaction(scope, async () => {
      const approval = await this.approvals.lockPending(directive.workspaceId, directive.directiveId);
      const current = await this.directives.lockAttempt(directive);
      if (!current) return;
      const error = { code: failure.code.toUpperCase(), message: failure.message };
      // Tokens are paid for even when nothing usable came back.
      this.directives.charge(current, addCost(current.cost, failure.cost));
      if (failure.retryable && current.attempts < MAX_ATTEMPTS) {
        const dueAt = this.clock.now() + backoffMs(current.attempts);
        this.directives.postpone(current, dueAt, error);
        this.jobs.wake('directive.draft', current.directiveId, dueAt);
      } else {
        this.endDirective.fail(current, approval, error, capoActor(current.capo!));
      }
    });
  }
}
