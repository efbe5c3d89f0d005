import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { type Scope, scopeSettings } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { dayAfter, dayBefore, dayOf, knownZone, startOf } from '../../platform/kernel/local-day.js';
import { Work, type WorkProgress } from '../../platform/work/work.js';
import { Connectors } from '../connectors/index.js';
import { BUYER_FACTS, buyerContextOf, type BuyerFacts } from '../partner/index.js';
import type { CapoRole, Priority } from '../terms/index.js';
import { Destinations, targetOf } from '../webhooks/index.js';
import { type ActionTypeName, actionTypesOf } from './action-types.js';
import type { Briefing, FeedbackRound, Figures, Sender, SkillBrief } from './briefing.js';
import { CAPO_ROLES, engineOf } from './capo.js';
import { NO_TARGETS, type OutsideTargets, reachesOutside } from './outside-targets.js';
import { speaksOfFigures } from './vocabulary.js';

/** So much of skills is read by a capo altogether, in bytes of JSON; each alone is smaller. */
const MAX_SKILL_BYTES = 32 * 1024;

/** A skill as its pack has it. */
interface SkillOfPack {
  capo: CapoRole;
  packName: string;
  definition: Omit<SkillBrief, 'pack'>;
}

type Read = (scope: Scope, capos: readonly CapoRole[]) => Promise<readonly SkillOfPack[]>;

/** The skills that a capo has from the workspace's skill packs. They belong to a higher feature, which registers. */
@Injectable()
export class CapoSkills {
  #read: Read | undefined;

  register(read: Read): void {
    this.#read = read;
  }

  /** By capo, as many of them, in their order, as there is room for: one that has none left is left out whole. */
  async of(scope: Scope, capos: readonly CapoRole[]): Promise<Map<CapoRole, SkillBrief[]>> {
    if (!this.#read) throw new Error('no skill packs have registered');
    const found = capos.length === 0 ? [] : await this.#read(scope, capos);
    return new Map(
      [...Map.groupBy(found, ({ capo }) => capo)].map(([capo, skills]) => {
        let room = MAX_SKILL_BYTES;
        const fitting = skills.map(briefOf).filter((skill) => {
          const bytes = Buffer.byteLength(JSON.stringify(skill));
          if (bytes > room) return false;
          room -= bytes;
          return true;
        });
        return [capo, fitting] as const;
      }),
    );
  }
}

/** Looks up what a workspace reaches outside now. */
@Injectable()
export class OutsideTargetsReader {
  constructor(
    private readonly destinations: Destinations,
    private readonly connectors: Connectors,
  ) {}

  async read(scope: Scope): Promise<OutsideTargets> {
    const [receiving, operations] = await Promise.all([
      this.destinations.receiving(scope),
      this.connectors.operations(scope),
    ]);
    return {
      destinations: receiving.map(targetOf),
      operations,
    };
  }

  /** What actions of these types need; nothing is looked up for others. */
  async for(scope: Scope, types: readonly string[]): Promise<OutsideTargets> {
    return reachesOutside(types) ? this.read(scope) : NO_TARGETS;
  }
}

/** How far the work on a draft has come, from its routing on. */
export type DraftingState = WorkProgress;

const DRAFTING_WORK = ['directive.route', 'directive.draft'];

/** Of a directive that has just been handed in, or is to be drafted again. */
export function draftingFrom(now: number): DraftingState {
  return { attempts: 0, nextAttemptAt: now, lastError: null };
}

/** Why a draft is not there yet: attempts so far, when the next one begins, what went wrong with the last. */
@Injectable()
export class DraftingStates {
  constructor(private readonly work: Work) {}

  /** Null when no draft is being made. For a caller that may see the directive. */
  read(scope: Scope, directiveId: string): Promise<DraftingState | null> {
    return this.work.progress(scope, DRAFTING_WORK, directiveId);
  }
}

/** The directive that a briefing is for. */
export interface BriefedDirective {
  directiveId: string;
  teamId: string | null;
  text: string;
  capo: CapoRole | null;
  priority: Priority;
  context: Record<string, unknown>;
  deadline: number | null;
  feedback: readonly FeedbackRound[];
  createdBy: Actor;
}

/** Newest first, and few: what a capo reads should fit a model's attention, and a person's. */
const BRIEFING = /* sql */ `
select
  json_build_object('workspaceId', w.workspace_id, 'name', w.name, 'timezone', app.zone_or_utc(w.timezone), 'locale', w.locale) as workspace,
  json_build_object('name', w.sender_name, 'signature', w.sender_signature, 'replyTo', w.sender_reply_to) as sender,
  w.tier,
  (select coalesce(json_agg(s), '[]') from (
    select signal_id as "signalId", type, severity, title, body, score, app.ms(created_at) as "createdAt"
    from signals where workspace_id = w.workspace_id and withdrawn_at is null and acknowledged_at is null
      and (team_id is null or team_id = $2)
    order by created_at desc limit 20) s) as signals,
  (select coalesce(json_agg(o), '[]') from (
    select name, text, effect, coalesce(capos, '{}') as capos
    from standing_orders where workspace_id = w.workspace_id and status = 'active'
      and (team_id is null or team_id = $2)
    order by created_at desc limit 50) o) as standing_orders,
  (select coalesce(json_agg(p), '[]') from (
    select work_packet_id as "workPacketId", title, action_type as type, status, app.ms(created_at) as "createdAt"
    from work_packets where workspace_id = w.workspace_id and (team_id is null or team_id = $2)
    order by created_at desc limit 20) p) as recent_packets,
  ${BUYER_FACTS} as buyers
from workspaces w
where w.workspace_id = $1`;

/** What is counted and summed is of the directive's team alone, or of what belongs to none: of what those see who read the draft. */
const COUNTED = /* sql */ `
select json_build_object(
    'currency', w.currency,
    'revenue24h', (select coalesce(sum(amount), 0) from app.revenue_since($1, $2::timestamptz - interval '1 day') r
      where r.currency = w.currency),
    'revenue24hByCurrency', (select coalesce(json_object_agg(r.currency, r.amount), '{}')
      from app.revenue_since($1, $2::timestamptz - interval '1 day') r where r.currency <> w.currency),
    'signalsScored', coalesce((select n from app.tally_of($1, 'signals') where key = 'scored'), 0)) as metrics,
  json_build_object('mode', g.mode, 'pending', (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
    where split_part(key, ' ', 1) = 'ready')) as guardian
from workspaces w join guardians g using (workspace_id)
where w.workspace_id = $1`;

/** How far back days are counted, and how many rows of each kind at most: a report is a page, not an archive. */
const DAYS = 92;
const MAX_ROWS = 5_000;

/**
 * By day of the workspace's zone: $4 are the days, to the one after today, and $5 when each begins. Revenue comes from the tallies by
 * the quarter of an hour, of which every day begins with one, so it is complete however much there is. Of approvals and signals
 * only so many are read: the answer begins with the first day that is complete.
 */
const FIGURES = /* sql */ `
with revenue as (
  select width_bucket(bucket, $5::timestamptz[]) as day, key, sum(amount) as n from (
    select bucket, key, amount from tallies
    where workspace_id = $1 and kind = 'team_revenue' and team_id = coalesce($2::text, '') and bucket >= $3::timestamptz
    union all
    select bucket, key, amount from tally_changes
    where workspace_id = $1 and kind = 'team_revenue' and bucket >= $3) r
  group by 1, 2),
decided as (
  select width_bucket(decided_at, $5) as day, status as key from (
    select decided_at, status from approvals
    where workspace_id = $1 and status in ('approved', 'rejected', 'changes_requested')
      and decided_at >= $3
    order by decided_at desc limit ${MAX_ROWS}) a),
raised as (
  select width_bucket(created_at, $5) as day, severity as key from (
    select created_at, severity from signals
    where workspace_id = $1 and withdrawn_at is null and created_at >= $3
    order by created_at desc limit ${MAX_ROWS}) s),
complete as (
  select least(cardinality($4::text[]), greatest(1,
    (select min(day) + 1 from decided having count(*) = ${MAX_ROWS}),
    (select min(day) + 1 from raised having count(*) = ${MAX_ROWS}))) as day),
counted as (
  select each.* from (
    select day, 'revenue' as kind, key, n from revenue
    union all select day, 'approvals', key, count(*) from decided group by day, key
    union all select day, 'signals', key, count(*) from raised group by day, key) each, complete
  where each.day >= complete.day)
select (select ($4::text[])[day] from complete) as since,
  (select coalesce(json_agg(d order by d.day), '[]') from (
    select ($4::text[])[day] as day,
      coalesce(json_object_agg(key, n) filter (where kind = 'revenue'), '{}') as revenue,
      coalesce(json_object_agg(key, n) filter (where kind = 'approvals'), '{}') as approvals,
      coalesce(json_object_agg(key, n) filter (where kind = 'signals'), '{}') as signals
    from counted group by counted.day) d) as days,
  (select coalesce(json_agg(o), '[]') from (
    select title, app.ms(requested_at) as "requestedAt" from approvals
    where workspace_id = $1 and status = 'pending' and ready
    order by requested_at limit 20) o) as "openApprovals"`;

type Row = Pick<Briefing, 'workspace' | 'signals' | 'standingOrders' | 'recentPackets'> & {
  tier: string;
  sender: Omit<Sender, 'name'> & { name: string | null };
  buyers: BuyerFacts;
};

/** What is known of a directive before it is routed, and what its capo is told then. */
interface UnroutedBriefing extends Pick<Briefing, 'standingOrders'> {
  for: (capo: CapoRole) => Briefing;
}

/** The full context that every capo execution receives (SPECIFICATION, Context). */
@Injectable()
export class BriefingReader {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly targets: OutsideTargetsReader,
    private readonly skills: CapoSkills,
  ) {}

  /** For the directive's capo; with none it has no skills and reaches nothing outside. */
  async read(scope: Scope, directive: BriefedDirective): Promise<Briefing> {
    const { capo } = directive;
    const { for: forCapo } = await this.lookUp(scope, directive, capo === null ? [] : [capo]);
    return forCapo(capo!);
  }

  /** Before the directive is routed. */
  readUnrouted(scope: Scope, directive: BriefedDirective): Promise<UnroutedBriefing> {
    return this.lookUp(scope, directive, CAPO_ROLES);
  }

  /** In one round trip; with one more where it speaks of figures. */
  private async lookUp(
    scope: Scope,
    directive: BriefedDirective,
    capos: readonly CapoRole[],
  ): Promise<UnroutedBriefing> {
    const now = this.clock.now();
    const { directiveId, text, priority, context, deadline, feedback, createdBy } = directive;
    const own = ownScope(scope, directive);
    const [[row, counted], skills, targets] = await this.db.readTogether(scope, () =>
      Promise.all([
        this.facts(scope, own, directive, now),
        this.skills.of(scope, capos),
        this.targets.for(scope, capos.flatMap(actionTypesOfCapo)),
      ]),
    );
    const { tier, buyers, sender, ...shared } = row;
    const [figures] = speaksOfFigures(text)
      ? await this.db.read<Figures>(own, FIGURES, [
          scope.workspaceId,
          directive.teamId,
          ...countedDays(now, shared.workspace.timezone),
        ])
      : [];
    return {
      standingOrders: shared.standingOrders,
      for: (capo) => ({
        ...shared,
        ...counted,
        operator: { handle: createdBy.name, tier },
        sender: {
          ...sender,
          name: sender.name ?? (createdBy.type === 'member' ? createdBy.name : shared.workspace.name),
        },
        directive: {
          directiveId,
          text,
          capo,
          priority,
          context,
          deadline: deadline === null ? null : new Date(deadline).toISOString(),
        },
        feedback,
        buyerContext: buyerContextOf(buyers),
        skills: skills.get(capo) ?? [],
        // A capo that reaches nobody outside is told of nothing there.
        targets: capos.includes(capo) && reachesOutside(actionTypesOfCapo(capo)) ? targets : NO_TARGETS,
        ...(figures && { figures }),
        now,
      }),
    };
  }

  private async facts(scope: Scope, own: Scope, { teamId }: BriefedDirective, now: number) {
    const { workspaceId } = scope;
    const [[row], , [counted]] = (await this.db.readAll(scope, [
      { text: BRIEFING, values: [workspaceId, teamId] },
      scopeSettings(own),
      { text: COUNTED, values: [workspaceId, new Date(now)] },
      scopeSettings(scope),
    ])) as [[Row], unknown, [Pick<Briefing, 'metrics' | 'guardian'>]];
    return [row, counted] as const;
  }
}

function briefOf({ packName, definition }: SkillOfPack): SkillBrief {
  const { name, description, instructions, inputs, outputs } = definition;
  return {
    pack: packName,
    name,
    ...(description !== undefined && { description }),
    ...(instructions !== undefined && { instructions }),
    inputs,
    outputs,
  };
}

/** Of what is counted a capo is told what the directive's team sees. */
function ownScope({ workspaceId }: Scope, { teamId }: BriefedDirective): Scope {
  return { workspaceId, teamIds: teamId === null ? [] : [teamId] };
}

function actionTypesOfCapo(capo: CapoRole): ActionTypeName[] {
  return actionTypesOf(engineOf(capo));
}

/** When the days begin that are counted, which days they are, and when each begins. */
function countedDays(now: number, timezone: string): [from: Date, days: string[], starts: Date[]] {
  const zone = knownZone(timezone);
  const today = dayOf(now, zone);
  const days = [today, dayAfter(today, zone)];
  for (let n = 0; n < DAYS; n++) days.unshift(dayBefore(days[0]!, zone));
  const starts = days.map((day) => new Date(startOf(day, zone)));
  return [starts[0]!, days, starts];
}
