import { Injectable, Inject, type OnApplicationShutdown } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { type Id, newId } from '../../platform/kernel/ids.js';
import {
  type NeededInput,
  type ValidAction,
  type Briefing,
  BriefingReader,
  BUILTIN_PROCESSES,
  BuiltinRunner,
  CAPOS,
  type Draft,
  engineOf,
  MODEL,
  type ModelClient,
  type OutsideTargets,
  RunnerFailed,
  validateAction,
  withDangers,
  withReplyTo,
} from '../capos/index.js';
import {
  decidedPacketOf,
  newPacket,
  type WorkPacketEntity,
  WorkPacketsReader,
  Directives,
  whyNobodyElseMayAllow,
} from '../directives/index.js';
import { PolicyPreview } from '../guardian/index.js';
import { type CapoRole, type Priority, type Cost, NO_COST } from '../terms/index.js';
import { routeDirective } from '../consigliere/index.js';
import { StandingOrders } from '../standing-orders/index.js';
import { type Preflight, preflightOf } from './preflight.js';
import type { PreflightRoute, PreflightView } from './preflight.dto.js';

/** Whose action it would be. */
export interface AskedFor {
  workspaceId: string;
  teamId: Id<'team'> | null;
  capo: CapoRole | null;
  priority: Priority;
}

/** What would be decided about work packets of one draft that is stored nowhere. */
@Injectable()
export class PreviewPackets {
  constructor(
    private readonly preview: PolicyPreview,
    private readonly packets: WorkPacketsReader,
  ) {}

  async execute(
    packets: readonly WorkPacketEntity[],
    { workspaceId, priority }: { workspaceId: string; priority: Priority },
  ): Promise<Pick<Preflight, 'guardian' | 'previewed'>> {
    const decided = packets.map((packet) => ({ ...decidedPacketOf(packet, priority), workPacketId: null }));
    const { guardian, decisions } = await this.preview.of(workspaceId, decided, (standingOrderIds) =>
      this.packets.waitingAhead(workspaceId, standingOrderIds),
    );
    const previewed = packets.map(
      ({ title, actionType: type, target, reversibility, needsInput }, index) => ({
        packet: { title, type, target, reversibility, needsInput: needsInput.map(({ path }) => path) },
        decision: decisions[index]!.decision,
      }),
    );
    return { guardian, previewed };
  }
}

/** The work packet that an action would become; it is stored nowhere. */
export function packetFor(
  { title, needsInput }: { title: string; needsInput: NeededInput[] },
  action: Omit<ValidAction, 'ok'>,
  { workspaceId, teamId, capo }: { workspaceId: string; teamId: string | null; capo: CapoRole },
): WorkPacketEntity {
  return newPacket({ title, rationale: '', multipliers: {}, needsInput }, action, {
    workPacketId: newId('pkt'),
    directiveId: newId('dir'),
    workspaceId,
    teamId,
    capo,
    position: 0,
    createdAt: 0,
  });
}

/** A directive that nobody has handed in. */
interface AskedDirective extends AskedFor {
  text: string;
  context: Record<string, unknown>;
  by: Actor;
}

const IN_REVIEW =
  'Its draft waits for a person, unless it is handed in so that standing orders decide (`requiresApproval: false`).';

/**
 * Somebody waits for the answer: longer than this, and it is given without the work packets. A second more than the rules
 * themselves may take, for the start of the process or the wait for it.
 */
const PATIENCE_MS = BUILTIN_PROCESSES.timeLimitMs + 1_000;

/**
 * What would come of a directive: who would get it, which work packets it would likely become, and what would be decided
 * about them. No model is asked, so with a model this is a guess; the warnings say so.
 */
@Injectable()
export class PreflightDirective implements OnApplicationShutdown {
  /**
   * The built-in rules for those who only ask. One process of its own, with the limits of those that draft: however many
   * ask, and whatever they ask, no draft waits for them. It is started when it is first needed.
   */
  readonly #runner = new BuiltinRunner({ ...BUILTIN_PROCESSES, size: 1 });

  constructor(
    private readonly db: Db,
    private readonly orders: StandingOrders,
    private readonly briefings: BriefingReader,
    private readonly previewPackets: PreviewPackets,
    private readonly directives: Directives,
    @Inject(MODEL) private readonly model: ModelClient | null,
  ) {}

  async execute(asked: AskedDirective): Promise<PreflightView> {
    const route = asked.capo ? namedRoute(asked.capo) : await this.route(asked);
    const capo = route.capo!;
    const warnings = [IN_REVIEW, ...this.modelWarnings(asked)];
    const { targets, draft } = await this.draft(asked, capo);
    const packets = draft instanceof RunnerFailed ? [] : packetsOf(draft, targets, { ...asked, capo });
    if (draft instanceof RunnerFailed) {
      warnings.push(`Which work packets it becomes could not be told: ${draft.message}`);
    } else if (packets.length === 0) {
      warnings.push('The built-in rules see no work packet in it, so only its route is told.');
    }
    return preflightOf({
      ...(await this.previewPackets.execute(packets, asked)),
      route,
      reasons: draft instanceof RunnerFailed ? [] : whyNobodyElseMayAllow(packets, draft.concerns),
      estimatedCost: await this.cost(asked, capo),
      warnings,
    });
  }

  private async route({
    workspaceId,
    teamId,
    text,
    priority,
    context,
  }: AskedDirective): Promise<PreflightRoute> {
    // As for the directive itself: orders of the whole workspace hold for its team as well.
    const standingOrders = await this.db.transaction({ workspaceId, teamIds: 'all' }, () =>
      this.orders.brief(workspaceId, teamId),
    );
    const { capo, candidates, reason } = routeDirective({ text, priority, context, standingOrders });
    return { capo, routedBy: 'consigliere', candidates, reason };
  }

  private async draft(
    asked: AskedDirective,
    capo: CapoRole,
  ): Promise<{ targets: OutsideTargets; draft: Draft | RunnerFailed }> {
    const { workspaceId, teamId, text, priority, context, by } = asked;
    const directive = {
      directiveId: newId('dir'),
      teamId,
      text,
      capo,
      priority,
      context,
      deadline: null,
      feedback: [],
      createdBy: by,
    };
    const briefing = await this.briefings.read({ workspaceId, teamIds: 'all' }, directive);
    const { targets } = briefing;
    try {
      return {
        targets,
        draft: withReplyTo(withDangers(await this.run(briefing), briefing), briefing),
      };
    } catch (error) {
      if (error instanceof RunnerFailed) return { targets, draft: error };
      throw error;
    }
  }

  private modelWarnings({ capo }: AskedDirective): string[] {
    if (!this.model) return [];
    return [
      ...(capo ? [] : ['It was routed by its words; the model that routes directives was not asked.']),
      'The work packets are those of the built-in rules; the model that drafts was not asked, and may make others.',
    ];
  }

  private cost({ workspaceId }: AskedDirective, capo: CapoRole): Promise<Cost | null> | Cost {
    return this.model ? this.directives.usualCost(workspaceId, capo) : NO_COST;
  }

  /** Rejects with `RunnerFailed` when the rules do not come to an end in time, the wait for the process included. */
  private async run(briefing: Briefing): Promise<Draft> {
    try {
      return await this.#runner.run(briefing, { signal: AbortSignal.timeout(PATIENCE_MS) });
    } catch (error) {
      if (!(error instanceof RunnerFailed) || error.code !== 'aborted') throw error;
      const message = `The built-in rules did not come to an end within ${PATIENCE_MS / 1_000} s.`;
      throw new RunnerFailed('timeout', message, true);
    }
  }

  onApplicationShutdown(): Promise<void> {
    return this.#runner.onApplicationShutdown();
  }
}

function namedRoute(capo: CapoRole): PreflightRoute {
  return { capo, routedBy: 'operator', candidates: [], reason: `The request names ${CAPOS[capo].name}.` };
}

/** As a draft is accepted: what the registry refuses is no work packet. The built-in rules propose nothing of the kind. */
function packetsOf(
  draft: Draft,
  targets: OutsideTargets,
  asked: AskedFor & { capo: CapoRole },
): WorkPacketEntity[] {
  return draft.packets.flatMap(({ title, type, params, needsInput }) => {
    const lacking = needsInput.map(({ path }) => path);
    const checked = validateAction(engineOf(asked.capo), type, params, { lacking, targets });
    return checked.ok ? [packetFor({ title, needsInput }, checked, asked)] : [];
  });
}
