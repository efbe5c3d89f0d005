import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { dayAfter, dayOf, isDayIn, startOf } from '../../platform/kernel/local-day.js';
import { markdownLine } from '../../platform/kernel/markdown.js';
import { counted, cutText, money } from '../../platform/kernel/text.js';
import { firstPending, soonAfter } from '../approvals/index.js';
import { CAPO_ROLES, type CapoRole, CAPOS } from '../capos/index.js';
import { type Audience, Audiences, teamOf, Workspaces } from '../workspaces/index.js';
import type { CapoDay, FamilyReport, FamilyReportQuery } from './family.dto.js';
import { familyReportIdOf } from './report.js';

/** What the day's rows say, by capo. */
interface DayFacts {
  /** What receipts of the day say, by capo and action. */
  counts: { capo: CapoRole; action: DayAction; n: number }[];
  /** The newest of each capo and kind, the newest first. */
  receipts: { capo: CapoRole; action: DayAction; receiptId: string; at: number; summary: string }[];
  /** What waits now. */
  waiting: { capo: CapoRole; n: number }[];
  approvals: {
    capo: CapoRole;
    approvalId: string;
    title: string;
    ready: boolean;
    risk: string;
    requestedAt: number;
    expiresAt: number;
  }[];
  /** Work packets that a decision of the day has denied. */
  denied: { capo: CapoRole; n: number }[];
  /** Of the drafts that were begun that day. */
  costs: { capo: CapoRole; currency: string; amount: number }[];
}

const DONE = ['packet.executed', 'directive.executed'] as const;
const FAILED = ['packet.failed', 'packet.denied', 'directive.failed'] as const;
const UNDONE = ['packet.reverted'] as const;
const DAY_ACTIONS = [...DONE, ...FAILED, ...UNDONE] as const;
type DayAction = (typeof DAY_ACTIONS)[number];

const SUMMARY = 300;

const iso = (at: number) => new Date(at).toISOString();

/** The report as a page of Markdown. */
export function familyMarkdownOf(report: FamilyReport): string {
  const { workspaceName, date, timezone, partial, teamId, capos, reportId, generatedAt } = report;
  const scope = teamId === null ? '' : ` for the team ${teamId}`;
  const opening = [
    `# The family's day: ${date}`,
    `${markdownLine(workspaceName)}${scope}, in the zone ${timezone}. Report ${reportId}, as of ${generatedAt}.${
      partial ? ' The day is not over yet.' : ''
    }${report.countsAreMinimum ? ' So much happened that the counts are minimums.' : ''}`,
  ];
  return `${[...opening, ...capos.map(capoMarkdown)].join('\n\n')}\n`;
}

/** How many receipts of a day are counted at most; one with more says that its counts are minimums. */
const MAX_RECEIPTS = 50_000;

/** Of each capo and kind. */
const FEW = 5;

/** $2 and $3 are the day, $4 the actions, $5 whether one team alone is asked for, and $6 which; null: what has none. */
const TEAM = '(not $5::boolean or team_id is not distinct from $6)';

const RECEIPTS = /* sql */ `
with of_day as materialized (
  select seq, at, receipt_id, action, capo from receipts
  where workspace_id = $1 and action = any($4) and capo is not null
    and seq between app.first_seq_from($1, $2) and app.last_seq_to($1, $3)
    and (at + interval '0') >= $2 and (at + interval '0') < $3 and ${TEAM}
  limit ${MAX_RECEIPTS + 1}),
ranked as (
  select seq, row_number() over (partition by capo,
    case when action = any($7) then 'done' when action = any($8) then 'failed' else 'undone' end order by seq desc) as place
  from of_day where action <> 'directive.executed')
select
  (select count(*) > ${MAX_RECEIPTS} from of_day) as is_cut,
  (select coalesce(json_agg(c), '[]') from (
    select capo, action, count(*)::int as n from of_day group by capo, action) c) as counts,
  (select coalesce(json_agg(json_build_object('capo', r.capo, 'action', r.action, 'receiptId', r.receipt_id,
      'at', app.ms(r.at), 'summary', r.body::jsonb->>'summary') order by r.seq desc), '[]')
    from ranked join receipts r on r.workspace_id = $1 and r.seq = ranked.seq where place <= ${FEW}) as receipts`;

const WAITING = /* sql */ `
select
  (select coalesce(json_agg(w), '[]') from (
    select split_part(key, ' ', 2) as capo, sum(n)::int as n from app.tally_of($1, 'approvals', $3)
    where split_part(key, ' ', 1) in ('pending', 'ready') and split_part(key, ' ', 2) <> ''
    group by 1) w) as waiting,
  (select coalesce(json_agg(json_build_object('capo', a.capo, 'approvalId', a.approval_id, 'title', a.title, 'ready', a.ready,
      'risk', a.risk, 'requestedAt', app.ms(a.requested_at), 'expiresAt', app.ms(a.expires_at))
      order by listed.part, a.requested_at, a.approval_id), '[]')
    from unnest($4::text[]) each (role) cross join lateral (${firstPending(
      `workspace_id = $1 and capo = each.role and status = 'pending' and (not $2::boolean or team_id is not distinct from $3)`,
      '$5',
      FEW,
    )}) listed join approvals a on a.approval_id = listed.approval_id) as approvals`;

const COSTS = /* sql */ `
select coalesce(json_agg(c), '[]') as costs from (
  select capo, cost->>'currency' as currency, sum((cost->>'amount')::numeric) as amount from directives
  where workspace_id = $1 and started_at >= $2 and started_at < $3 and capo is not null
    and (cost->>'amount')::numeric <> 0 and (not $4::boolean or team_id is not distinct from $5)
  group by 1, 2 order by 1, 2) c`;

/** A denial that was made with the decision about a draft has no receipt of its own: the decision is the record of it. */
const DENIED = /* sql */ `
select coalesce(json_agg(d), '[]') as denied from (
  select p.capo, count(*)::int as n from (
    select distinct work_packet_id from policy_decisions
    where workspace_id = $1 and at >= $2 and at < $3 and outcome = 'deny' and (not $4::boolean or team_id is not distinct from $5)
    limit ${MAX_RECEIPTS}) denied
  join work_packets p on p.workspace_id = $1 and p.work_packet_id = denied.work_packet_id
  group by 1) d`;

/** With whether there was more than is counted. */
type Counted = DayFacts & { isCut: boolean };

/** A day of the calendar in the workspace's zone. */
interface LocalDay {
  /** YYYY-MM-DD */
  date: string;
  timezone: string;
  /** Its first moment, and that of the next day; Unix milliseconds. */
  from: number;
  to: number;
  workspaceName: string;
  /** It is not over yet. */
  isPartial: boolean;
}

/** `GET /family/report`: counted from the receipts of the day, all of it as of one moment. */
@Injectable()
export class FamilyReports {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly audiences: Audiences,
    private readonly workspaces: Workspaces,
  ) {}

  /**
   * @throws NotFound for a day that is none, or a team that the caller may not see
   * @throws ValidationFailed for a member of several teams who names none
   */
  async read(caller: Caller, { date, teamId }: FamilyReportQuery): Promise<FamilyReport> {
    const scope = scopeOf(caller);
    const audience = await this.audiences.of(caller, teamId, 'one-named');
    const day = await this.day(scope, date);
    const { isCut, ...facts } = await this.facts(scope, day, audience);
    return {
      reportId: familyReportIdOf(caller.workspaceId, day.date, audience),
      date: day.date,
      timezone: day.timezone,
      workspaceName: day.workspaceName,
      teamId: teamOf(audience),
      generatedAt: new Date(this.clock.now()).toISOString(),
      partial: day.isPartial,
      countsAreMinimum: isCut,
      capos: caposOf(facts),
    };
  }

  /**
   * The day, or today.
   * @throws NotFound for one that is to come, that the zone has left out, or from before the workspace was made
   */
  async day(scope: Scope, date: string | undefined): Promise<LocalDay> {
    const { name: workspaceName, timezone, createdAt } = await this.workspaces.calendar(scope);
    const now = this.clock.now();
    const today = dayOf(now, timezone);
    const day = date ?? today;
    if (day > today || day < dayOf(createdAt, timezone) || !isDayIn(day, timezone)) {
      throw new NotFound({
        message: `There is no report of ${day}: the day is still to come, lies before this workspace, or does not exist in ${timezone}.`,
      });
    }
    const from = startOf(day, timezone);
    const to = startOf(dayAfter(day, timezone), timezone);
    return { date: day, timezone, from, to, workspaceName, isPartial: to > now };
  }

  private async facts(scope: Scope, { from, to }: LocalDay, audience: Audience): Promise<Counted> {
    const { workspaceId } = scope;
    const bounds = [new Date(from), new Date(to)];
    const ofTeam = [audience !== 'all', teamOf(audience)];
    const [receipts, waiting, costs, denied] = await this.db.readAll(scope, [
      { text: RECEIPTS, values: [workspaceId, ...bounds, DAY_ACTIONS, ...ofTeam, DONE, FAILED] },
      { text: WAITING, values: [workspaceId, ...ofTeam, CAPO_ROLES, soonAfter(this.clock.now())] },
      { text: COSTS, values: [workspaceId, ...bounds, ...ofTeam] },
      { text: DENIED, values: [workspaceId, ...bounds, ...ofTeam] },
    ]);
    // Each answers one row, with a part of the facts.
    const parts = [receipts, waiting, costs, denied].map((rows) => (rows as Partial<Counted>[])[0]);
    return Object.assign({}, ...parts) as Counted;
  }
}

/** The day of each capo, whether or not anything happened. */
function caposOf(facts: DayFacts): CapoDay[] {
  return CAPO_ROLES.map((role) => capoDay(role, facts));
}

function capoDay(role: CapoRole, { counts, receipts, waiting, approvals, denied, costs }: DayFacts): CapoDay {
  const count = (action: DayAction) =>
    counts.find((each) => each.capo === role && each.action === action)?.n ?? 0;
  const listed = (actions: readonly DayAction[]) =>
    receipts
      .filter((each) => each.capo === role && actions.includes(each.action))
      .map(({ receiptId, at, summary }) => ({ receiptId, at: iso(at), summary: cutText(summary, SUMMARY) }));
  const day = {
    capo: role,
    name: CAPOS[role].name,
    did: {
      packetsExecuted: count('packet.executed'),
      directivesExecuted: count('directive.executed'),
      packetsReverted: count('packet.reverted'),
      items: listed(['packet.executed', 'packet.reverted']),
    },
    waits: {
      approvals: waiting.find((each) => each.capo === role)?.n ?? 0,
      items: approvals
        .filter((each) => each.capo === role)
        .map(({ approvalId, title, ready, risk, requestedAt, expiresAt }) => ({
          approvalId,
          title,
          ready,
          risk,
          requestedAt: iso(requestedAt),
          expiresAt: iso(expiresAt),
        })),
    },
    failed: {
      packetsFailed: count('packet.failed'),
      packetsDenied: denied.find((each) => each.capo === role)?.n ?? 0,
      directivesFailed: count('directive.failed'),
      inAll: FAILED.reduce((sum, action) => sum + count(action), 0),
      items: listed(FAILED),
    },
    cost: costs.filter((each) => each.capo === role).map(({ currency, amount }) => ({ currency, amount })),
  };
  return { ...day, sentence: sentenceOf(day) };
}

function sentenceOf({ name, did, waits, failed, cost }: Omit<CapoDay, 'sentence'>): string {
  const parts: string[] = [];
  if (did.packetsExecuted > 0) parts.push(`carried out ${counted(did.packetsExecuted, 'work packet')}`);
  if (did.packetsReverted > 0) parts.push(`had ${counted(did.packetsReverted, 'work packet')} undone`);
  if (failed.packetsFailed > 0) parts.push(`failed with ${counted(failed.packetsFailed, 'work packet')}`);
  if (failed.packetsDenied > 0) parts.push(`was denied ${counted(failed.packetsDenied, 'work packet')}`);
  if (failed.directivesFailed > 0)
    parts.push(`could not finish ${counted(failed.directivesFailed, 'directive')}`);
  const done = parts.length === 0 ? `${name} carried out nothing` : `${name} ${listOf(parts)}`;
  const waiting =
    waits.approvals === 0
      ? 'nothing waits for you'
      : `${counted(waits.approvals, 'approval')} ${waits.approvals === 1 ? 'waits' : 'wait'} for a decision`;
  const spent =
    cost.length === 0
      ? ''
      : ` Its drafts cost ${listOf(cost.map(({ amount, currency }) => money(amount, currency)))}.`;
  return `${done}; ${waiting}.${spent}`;
}

function listOf(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function capoMarkdown({ name, sentence, did, waits, failed }: CapoDay): string {
  const blocks = [`## ${name}`, sentence];
  const list = (title: string, items: readonly string[], inAll: number) => {
    if (items.length === 0) return;
    const more = inAll > items.length ? [`- … and ${inAll - items.length} more`] : [];
    blocks.push([`**${title}**`, '', ...items.map((item) => `- ${item}`), ...more].join('\n'));
  };
  const ofReceipts = (items: CapoDay['did']['items']) =>
    items.map(({ summary, receiptId }) => `${markdownLine(summary)} (${receiptId})`);
  list('What it did', ofReceipts(did.items), did.packetsExecuted + did.packetsReverted);
  list(
    'What waits',
    waits.items.map(
      ({ title, approvalId, ready, risk, expiresAt }) =>
        `${markdownLine(title)}: ${ready ? `risk ${risk}` : 'its draft is being made'}, until ${expiresAt} (${approvalId})`,
    ),
    waits.approvals,
  );
  list('What failed', ofReceipts(failed.items), failed.inAll);
  return blocks.join('\n\n');
}
