import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { CAPOS, capoActor } from '../capos/index.js';
import { type GuardianEntity, isHalted } from '../guardian/index.js';
import { titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { Directives } from './directives.repository.js';
import { DueDrafts } from './due-drafts.repository.js';

/** Claims a directive for an attempt at its draft, and records that its capo began to work on it. */
@Injectable()
export class BeginDraft {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly drafts: DueDrafts,
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
  ) {}

  /** The directive, if it is still to be drafted and its capo may work on it now. */
  execute(item: WorkItem): Promise<DirectiveEntity | undefined> {
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
}

export function isFirstAttempt({ failures, crashes, lastError }: WorkItem): boolean {
  return failures + crashes === 0 && lastError === null;
}
