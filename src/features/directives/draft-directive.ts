import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem, type WorkKind } from '../../platform/work/work-item.js';
import {
  type BriefedDirective,
  type Briefing,
  BriefingReader,
  CAPO_RUNNER,
  type CapoRole,
  type CapoRunner,
  type Draft,
  type StandingOrderBrief,
  withDangers,
  withReplyTo,
} from '../capos/index.js';
import { KILLED_TOPIC, isHalted } from '../guardian/index.js';
import { AcceptDraft, type FoundDirective } from './accept-draft.js';
import { DraftAttempts, isFirstAttempt } from './draft-attempts.js';
import type { DirectiveEntity } from './directive.entity.js';

type ToldOfDirective = Omit<BriefedDirective, 'directiveId'> & Pick<DirectiveEntity, 'requiresApproval'>;

/** A directive to be drafted; with as much of it as its capo is told, where the runner is free (app.claim_drafts). */
export interface DraftItem extends WorkItem, Partial<ToldOfDirective> {
  startedAt?: number | null;
}

type ClaimedDraft = DraftItem & ToldOfDirective;

/** To which capo a directive goes, by what is known of it. */
export type RouteInMemory = (
  directive: BriefedDirective,
  standingOrders: readonly StandingOrderBrief[],
) => { capo: CapoRole; assign: (found: FoundDirective) => void };

/** How the first steps of an attempt are taken. */
interface Steps {
  /** Records that the capo began, and answers the directive if it may. */
  begin: () => Promise<DirectiveEntity | undefined>;
  /** Left out where the directive has its capo. */
  route?: RouteInMemory;
}

/**
 * Lets a capo make the draft: claims the directive, gives the capo the full context (SPECIFICATION, Context), and hands
 * what it made to the guardian. No transaction is open while the capo works; what it makes counts only if the work is still
 * this attempt's. A free runner's first draft is made before anything is recorded: that it was routed, begun, made and decided is
 * one transaction (docs/decisions/0061).
 */
@Injectable()
export class DraftDirective implements OnModuleInit {
  constructor(
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly attempts: DraftAttempts,
    private readonly briefings: BriefingReader,
    @Inject(CAPO_RUNNER) private readonly runner: CapoRunner,
    private readonly acceptDraft: AcceptDraft,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      ...this.kind,
      name: 'directive.draft',
      run: (item, signal) => this.run(item, signal, { begin: () => this.attempts.begin(item) }),
    });
  }

  /** What is the same for all work that ends with a draft. */
  get kind(): Omit<WorkKind<DraftItem>, 'name' | 'run'> {
    return {
      // A capo mostly waits, for a model or for a thread of its own; what it computes here is little.
      pool: 32,
      perQueue: this.runner.perWorkspace,
      tries: 5,
      abortTopic: KILLED_TOPIC,
      ...(this.runner.isFree && { claim: 'app.claim_drafts' }),
      giveUp: (item, error) => this.attempts.giveUp(item, error),
    };
  }

  async run(item: DraftItem, signal: AbortSignal, steps: Steps): Promise<void> {
    if (this.isUnbegun(item) && (await this.draftAtOnce(item, signal, steps))) return;
    const directive = await steps.begin();
    if (!directive) return;
    let draft: Draft;
    try {
      draft = await this.draft(await this.briefings.read(scopeOfWork(item), directive), signal);
    } catch (error) {
      await this.attempts.fail(item, error);
      return;
    }
    await this.acceptDraft.execute(item, draft);
  }

  private async draft(briefing: Briefing, signal: AbortSignal): Promise<Draft> {
    return withReplyTo(withDangers(await this.runner.run(briefing, { signal }), briefing), briefing);
  }

  /** Neither this attempt nor one before it has recorded anything. */
  private isUnbegun(item: DraftItem): item is ClaimedDraft {
    return typeof item.text === 'string' && item.startedAt === null && isFirstAttempt(item);
  }

  /** Answers whether it did; where something has changed meanwhile it takes its steps one by one. */
  private async draftAtOnce(
    item: ClaimedDraft,
    signal: AbortSignal,
    { begin, route }: Steps,
  ): Promise<boolean> {
    const startedAt = this.clock.now();
    const { workspaceId, id: directiveId, teamId, priority, requiresApproval } = item;
    const directive = { ...item, directiveId };
    let unbegun;
    try {
      const briefing = await this.briefings.readUnrouted(scopeOfWork(item), directive);
      const routed = item.capo === null ? route?.(directive, briefing.standingOrders) : undefined;
      const capo = routed?.capo ?? item.capo!;
      const draft = await this.draft(briefing.for(capo), signal);
      unbegun = { routed, capo, draft };
    } catch (error) {
      if (await begin()) await this.attempts.fail(item, error);
      return true;
    }
    const { routed, capo, draft } = unbegun;
    return this.acceptDraft.together(item, {
      of: { workspaceId, directiveId, teamId, capo, priority, requiresApproval },
      draft,
      mayBegin: ({ guardian, directive: { capo: given, startedAt: began }, paused }) =>
        !isHalted(guardian.mode) && !paused.has(capo) && given === item.capo && began === null,
      begin: (found) => {
        routed?.assign(found);
        this.attempts.recordStart(item, found.directive, found.guardian, startedAt);
      },
    });
  }
}
