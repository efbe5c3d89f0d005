import { ActorView } from '../../platform/auth/actor.dto.js';
import type { CapoRole } from '../terms/terms.js';

/** In the order in which they are asked: the first that holds (CONTRACT, Agent). */
export type AgentStatus = 'halted' | 'paused' | 'error' | 'awaiting-approval' | 'active' | 'idle';

/** A capo and how it is doing (SPECIFICATION, Agent). */
export class AgentView {
  /** Equals the role. */
  id!: string;
  role!: CapoRole;
  /** The first that holds: halted, paused, error, awaiting-approval, active or idle */
  status!: AgentStatus;
  /** Directives that have not come to an end. */
  pendingDirectives!: number;
  /** Directives carried out since midnight in the workspace's zone. */
  completedToday!: number;
  /** ISO 8601 */
  lastExecutedAt!: string | null;
  /** One sentence on why it has this status. */
  statusReason!: string;
  pausedBy!: ActorView | null;
  /** What it is drafting or sending just now. */
  currentDirectiveId!: string | null;
}

export class AgentList {
  agents!: AgentView[];
}
