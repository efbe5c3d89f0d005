import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { CAPO_ROLES, type CapoRole } from '../terms/index.js';
import type { OutsideAgentView } from '../workspaces/index.js';
import type { AgentStatus, AgentView } from './agents.dto.js';

/** What is known of one capo; times in Unix milliseconds. */
export interface AgentFacts {
  role: CapoRole;
  /** The kill switch is engaged, or what came before it is being undone. */
  killed: boolean;
  recovering?: boolean;
  killReason: string | null;
  pausedBy: Actor | null;
  pendingDirectives: number;
  currentDirectiveId: string | null;
  readyApprovals: number;
  completedToday: number;
  lastExecutedAt: number | null;
  /** The last failed executions, newest first; three of them are enough. */
  failures: { at: number; message: string | null }[];
}

/** So many failures in a row are an error of the agent and not of one directive. */
const FAILURES_OF_AN_ERROR = 3;
const ACTIVE_FOR_MS = 24 * 3_600_000;

export function agentOf(facts: AgentFacts, now: number): AgentView {
  const { role, pendingDirectives, completedToday, lastExecutedAt, pausedBy, currentDirectiveId } = facts;
  const status = statusOf(facts, now);
  return {
    id: role,
    role,
    status,
    pendingDirectives,
    completedToday,
    lastExecutedAt: lastExecutedAt === null ? null : new Date(lastExecutedAt).toISOString(),
    statusReason: reasonOf(status, facts),
    pausedBy,
    currentDirectiveId,
  };
}

type OutsideAgentFacts = Omit<OutsideAgentView, 'statusReason'>;

export function statusOf(facts: AgentFacts, now: number): AgentStatus {
  const { lastExecutedAt, currentDirectiveId } = facts;
  if (facts.killed) return 'halted';
  if (facts.pausedBy) return 'paused';
  if (keepsFailing(facts)) return 'error';
  if (facts.readyApprovals > 0) return 'awaiting-approval';
  if (currentDirectiveId !== null) return 'active';
  return lastExecutedAt !== null && lastExecutedAt > now - ACTIVE_FOR_MS ? 'active' : 'idle';
}

/**
 * Each part has an index of its own to go by, so that none reads through all that was ever carried out. A failed
 * directive keeps no time of its own; it ended with the last change of its history.
 */
const AGENTS = /* sql */ `
with ready as materialized (select key, n from app.tally_of($1, 'approvals') where key like 'ready %'),
  directive_tally as materialized (select key, n from app.tally_of($1, 'directives')),
  today as materialized (select app.window_start('day', $3::timestamptz, app.workspace_zone($1)) as began_at)
select c.role, g.mode in ('killed', 'recovering') as killed, g.mode = 'recovering' as recovering,
  g.reason as kill_reason, p.paused_by,
  open.pending_directives, open.current_directive_id,
  coalesce((select n from ready where key = 'ready ' || c.role), 0) as ready_approvals,
  (select count(*) from directives where workspace_id = w.workspace_id and capo = c.role
    and executed_at >= (select began_at from today)) as completed_today,
  (select executed_at from directives where workspace_id = w.workspace_id and capo = c.role
    and executed_at is not null order by executed_at desc limit 1) as last_executed_at,
  (select coalesce(json_agg(f), '[]') from (
    select (history->-1->>'at')::bigint as at, error->>'message' as message from directives
    where workspace_id = w.workspace_id and capo = c.role and executed_at is null and status = 'failed'
    order by (history->-1->>'at')::bigint desc limit ${FAILURES_OF_AN_ERROR}) f) as failures
from workspaces w
join guardians g using (workspace_id)
cross join unnest($2::text[]) with ordinality as c(role, position)
left join paused_capos p on p.workspace_id = w.workspace_id and p.capo = c.role
cross join lateral (
  select coalesce((select sum(n) from directive_tally
      where key in ('pending_approval ' || c.role, 'queued ' || c.role, 'executing ' || c.role, 'sending ' || c.role,
        'halted ' || c.role)), 0) as pending_directives,
    (select directive_id from (
        select directive_id, started_at, true as drafting from directives join work_items
          on work_items.workspace_id = $1 and kind in ('directive.route', 'directive.draft') and id = directive_id and claimed
        where directives.workspace_id = $1 and capo = c.role
          and status in ('pending_approval', 'queued', 'executing', 'sending', 'halted')
        union all
        select directive_id, started_at, false from directives
        where workspace_id = $1 and capo = c.role and status = 'sending') current
      order by drafting desc, started_at desc nulls last, directive_id limit 1) as current_directive_id) open
where w.workspace_id = $1
order by c.position`;

/**
 * The agents from outside that have a token which is neither revoked nor expired, by name. What waits is counted for all at once: for
 * each agent in turn, row-level security would have it read once for each.
 */
const OUTSIDE_AGENTS = /* sql */ `
with pending as materialized (
  select root_id, count(*)::int as n from (
    select token_root_id as root_id from action_requests where workspace_id = $1 and status = 'pending'
    union all
    select question_token_id from approvals
    where workspace_id = $1 and status = 'pending' and question_id is not null
  ) asked group by root_id)
select t.token_id, t.agent_name as name, t.tools, case when t.paused_at is not null then 'paused'
    when t.last_used_at > $2::timestamptz - interval '24 hours' then 'active' else 'idle' end as status,
  t.member_id, u.display_name as member_name, t.made_by, t.paused_by, t.last_used_at, t.created_at,
  coalesce(p.n, 0) as pending_requests
from tokens t join members m on m.member_id = t.member_id join users u on u.user_id = m.user_id
left join pending p on p.root_id = coalesce(t.root_id, t.token_id)
where t.workspace_id = $1 and t.agent_name is not null and t.revoked_at is null
  and (t.expires_at is null or t.expires_at > $2)
order by t.agent_name_key`;

/** The agents and how they are doing. Counts are of what the caller may see. */
@Injectable()
export class AgentsReader {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  async list(scope: Scope): Promise<AgentView[]> {
    const { text, values } = this.statement(scope);
    return this.agentsOf(await this.db.read(scope, text, values));
  }

  async outside(scope: Scope): Promise<OutsideAgentView[]> {
    const values = [scope.workspaceId, new Date(this.clock.now())];
    return (await this.db.read<OutsideAgentFacts>(scope, OUTSIDE_AGENTS, values)).map(outsideAgentOf);
  }

  async read(scope: Scope, role: CapoRole): Promise<AgentView> {
    const { text, values } = this.statement(scope, [role]);
    const [agent] = this.agentsOf(await this.db.read(scope, text, values));
    return agent!;
  }

  /** For a caller that sends it along with statements of its own; {@link agentsOf} reads its rows. */
  statement({ workspaceId }: Scope, roles: readonly CapoRole[] = CAPO_ROLES): Statement {
    return { text: AGENTS, values: [workspaceId, roles, new Date(this.clock.now())] };
  }

  agentsOf(rows: readonly AgentFacts[]): AgentView[] {
    const now = this.clock.now();
    return rows.map((facts) => agentOf(facts, now));
  }
}

function outsideAgentOf(agent: OutsideAgentFacts): OutsideAgentView {
  const { status, pausedBy, lastUsedAt } = agent;
  const when =
    lastUsedAt === null ? 'has sent no request yet' : 'has sent no request within the last 24 hours';
  const sent = status === 'active' ? 'It sent a request within the last 24 hours.' : `It ${when}.`;
  return { ...agent, statusReason: pausedBy ? `Paused by ${pausedBy.name}.` : sent };
}

/** Nothing was carried out since the third last failure. */
function keepsFailing({ failures, lastExecutedAt }: AgentFacts): boolean {
  const since = failures[FAILURES_OF_AN_ERROR - 1]?.at;
  return since !== undefined && (lastExecutedAt === null || lastExecutedAt < since);
}

function reasonOf(status: AgentStatus, facts: AgentFacts): string {
  switch (status) {
    case 'halted':
      if (facts.recovering) return 'A revert is undoing work packets.';
      return `The kill switch is engaged${facts.killReason === null ? '.' : `: ${facts.killReason}`}`;
    case 'paused':
      return `Paused by ${facts.pausedBy!.name}.`;
    case 'error': {
      const message = facts.failures[0]?.message;
      return `Its last three executions failed${message ? `; the last one: ${message}` : '.'}`;
    }
    case 'awaiting-approval':
      return facts.readyApprovals === 1
        ? 'One draft is waiting for approval.'
        : `${facts.readyApprovals} drafts are waiting for approval.`;
    case 'active':
      return facts.currentDirectiveId === null ? 'It worked within the last 24 hours.' : 'It is working.';
    case 'idle':
      return 'It has not worked within the last 24 hours.';
  }
}
