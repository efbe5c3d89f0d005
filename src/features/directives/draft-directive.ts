import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import {
  BriefingReader,
  CAPO_RUNNER,
  type CapoRunner,
  type Draft,
  withDangers,
  withReplyTo,
} from '../capos/index.js';
import { KILLED_TOPIC } from '../guardian/index.js';
import { AcceptDraft } from './accept-draft.js';
import { BeginDraft } from './begin-draft.js';
import type { DirectiveEntity } from './directive.entity.js';
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
    private readonly work: Work,
    private readonly beginDraft: BeginDraft,
    private readonly briefings: BriefingReader,
    @Inject(CAPO_RUNNER) private readonly runner: CapoRunner,
    private readonly acceptDraft: AcceptDraft,
    private readonly recordFailure: RecordDraftFailure,
    private readonly giveUpDraft: GiveUpDraft,
  ) {}

  /** How many drafts of a workspace are made at the same time. */
  get perWorkspace(): number {
    return this.runner.perWorkspace;
  }

  onModuleInit(): void {
    this.work.declare({
      name: 'directive.draft',
      // A capo mostly waits, for a model or for a thread of its own; what it computes here is little.
      pool: 32,
      perQueue: this.perWorkspace,
      tries: 5,
      abortTopic: KILLED_TOPIC,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUpDraft.execute(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const directive = await this.beginDraft.execute(item);
    if (directive) await this.draft(item, directive, signal);
  }

  /** Of a directive on which its capo has begun to work, by this work. */
  async draft(item: WorkItem, directive: DirectiveEntity, signal: AbortSignal): Promise<void> {
    let draft: Draft;
    try {
      const briefing = await this.briefings.read(scopeOfWork(item), directive);
      draft = withReplyTo(withDangers(await this.runner.run(briefing, { signal }), briefing), briefing);
    } catch (error) {
      await this.recordFailure.execute(item, error);
      return;
    }
    await this.acceptDraft.execute(item, draft);
  }
}
