import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { type CapoRunner, type Draft, RunnerFailed } from '../capos/briefing.js';
import { BriefingReader } from '../capos/briefing.reader.js';
import { CAPOS } from '../capos/capo.js';
import { capoActor } from '../capos/capo-actor.js';
import { CAPO_RUNNER } from '../capos/capos.module.js';
import { withReplyTo } from '../capos/reply-to.js';
import { paidBefore } from '../capos/paid.js';
import { PausedCapos } from '../capos/paused-capos.repository.js';
import type { GuardianEntity } from '../guardian/guardian.entity.js';
import { isHalted, KILLED_TOPIC } from '../guardian/guardian.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { AcceptDraft } from './accept-draft.js';
import { ChargeUnused } from './charge-unused.js';
import { titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { Directives } from './directives.repository.js';
import { GiveUpDraft } from './give-up-draft.js';
import { RecordDraftFailure } from './record-draft-failure.js';

/**
 * Lets a capo make the draft: claims the directive, gives the capo the full context (SPECIFICATION, Context), and hands
 * what it made to the guardian. No transaction is open while the capo works; what it makes counts only if the work is still
 * this attempt's.
 */
@Injectable()
export class DraftDirective implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly paused: PausedCapos,
    private readonly briefings: BriefingReader,
    @Inject(CAPO_RUNNER) private readonly runner: CapoRunner,
    private readonly acceptDraft: AcceptDraft,
    private readonly recordFailure: RecordDraftFailure,
    private readonly chargeUnused: ChargeUnused,
    private readonly giveUpDraft: GiveUpDraft,
    private readonly transitions: DirectiveTransitions,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'directive.draft',
      // A capo mostly waits, for a model or for a thread of its own; what it computes here is little.
      pool: 32,
      perQueue: this.runner.perWorkspace,
      tries: 5,
      abortTopic: KILLED_TOPIC,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUpDraft.execute(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const directive = await this.begin(item);
    if (!directive) return;
    let draft: Draft;
    try {
      const briefing = await this.briefings.read(scopeOfWork(item), directive);
      draft = withReplyTo(await this.runner.run(briefing, { signal }), briefing);
    } catch (error) {
      const paid = paidBefore(error);
      if (!(error instanceof RunnerFailed)) {
        await this.chargeUnused.afterFailure(item, 'draft', paid, error);
        throw error;
      }
      if (error.code === 'aborted') {
        await this.chargeUnused.execute(item, 'draft', paid);
        await this.callOff(item);
      } else {
        await this.chargeUnused.after(item, 'draft', paid, () =>
          this.recordFailure.execute(item, error, paid),
        );
      }
      return;
    }
    await this.chargeUnused.after(item, 'draft', draft, () => this.acceptDraft.execute(item, draft));
  }

  /** The directive, if it is still to be drafted and its capo may work on it now. */
  private begin(item: WorkItem): Promise<DirectiveEntity | undefined> {
    const { workspaceId, id } = item;
    return this.db.transaction(scopeOfWork(item), async (unit) => {
      // The directive is locked before its capo is looked up: a resume waits for the lock, and then finds it parked.
      const [[guardian], [directive], paused] = (await unit.batch([
        this.guardians.lockSharedStatement(workspaceId),
        this.directives.lockDraftingStatement(workspaceId, id),
        this.paused.statement(workspaceId),
      ])) as [[GuardianEntity], [DirectiveEntity?], { capo: string }[]];
      if (!directive) return undefined;
      if (isHalted(guardian.mode) || paused.some(({ capo }) => capo === directive.capo)) {
        this.work.park(item);
        return undefined;
      }
      this.recordStart(directive, guardian, item.failures + item.crashes === 0 && item.lastError === null);
      return directive;
    });
  }

  private recordStart(directive: DirectiveEntity, { epoch }: GuardianEntity, isFirst: boolean): void {
    const capo = directive.capo!;
    const receipt = {
      actor: capoActor(capo),
      action: 'directive.started',
      summary: `${CAPOS[capo].name} began to work on "${titleOf(directive.text)}".`,
      guardianEpoch: epoch,
      details: { round: directive.feedback.length },
    };
    if (directive.status === 'queued') this.transitions.apply(directive, 'start', receipt);
    else if (isFirst) this.transitions.note(directive, receipt);
    if (directive.startedAt === null) this.directives.update(directive, { startedAt: this.clock.now() });
  }

  /**
   * Whoever killed the workspace or claimed the work has voided the attempt, and sees to the rest. A message of a kill
   * that was lifted before this attempt began voids nothing: then the draft is made again.
   */
  private async callOff(item: WorkItem): Promise<void> {
    await this.db.transaction(scopeOfWork(item), async () => this.work.reschedule(item, 0));
  }
}
