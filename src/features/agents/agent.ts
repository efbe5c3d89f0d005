import type { Actor } from '../../platform/auth/caller.js';
import type { CapoRole } from '../terms/index.js';
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
export const FAILURES_OF_AN_ERROR = 3;
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

export type OutsideAgentFacts = Omit<OutsideAgentView, 'statusReason'>;

export function outsideAgentOf(agent: OutsideAgentFacts): OutsideAgentView {
  const { status, pausedBy, lastUsedAt } = agent;
  const when =
    lastUsedAt === null ? 'has sent no request yet' : 'has sent no request within the last 24 hours';
  const sent = status === 'active' ? 'It sent a request within the last 24 hours.' : `It ${when}.`;
  return { ...agent, statusReason: pausedBy ? `Paused by ${pausedBy.name}.` : sent };
}

export function statusOf(facts: AgentFacts, now: number): AgentStatus {
  const { lastExecutedAt, currentDirectiveId } = facts;
  if (facts.killed) return 'halted';
  if (facts.pausedBy) return 'paused';
  if (keepsFailing(facts)) return 'error';
  if (facts.readyApprovals > 0) return 'awaiting-approval';
  if (currentDirectiveId !== null) return 'active';
  return lastExecutedAt !== null && lastExecutedAt > now - ACTIVE_FOR_MS ? 'active' : 'idle';
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
