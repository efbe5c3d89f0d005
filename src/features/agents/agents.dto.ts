import { ApiProperty, PickType } from '@nestjs/swagger';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { WorkPacketSummary } from '../directives/index.js';
import type { CapoRole } from '../terms/index.js';
import { OutsideAgentView } from '../workspaces/index.js';

/** The parameter of the paths, as it is documented. */
export const CAPO_PARAM = {
  name: 'role',
  description: 'The role of the capo.',
  example: 'capo_ops',
};

/** In the order in which they are asked: the first that holds (CONTRACT, Agent). */
export type AgentStatus = 'halted' | 'paused' | 'error' | 'awaiting-approval' | 'active' | 'idle';

/** A capo and how it is doing (SPECIFICATION, Agent). */
export class AgentView {
  /** Equals the role. @example 'capo_ops' */
  id!: string;
  /** The role of the capo. @example 'capo_ops' */
  role!: CapoRole;
  /** The first that holds: halted, paused, error, awaiting-approval, active or idle. @example 'awaiting-approval' */
  status!: AgentStatus;
  /** Directives that have not come to an end. @example 1 */
  pendingDirectives!: number;
  /** Directives carried out since midnight in the workspace's zone. @example 3 */
  completedToday!: number;
  /** When it last carried out a directive, ISO 8601; null: never. @example '2026-02-18T08:01:31.800Z' */
  lastExecutedAt!: string | null;
  /** One sentence on why it has this status. @example '1 draft waits for approval.' */
  statusReason!: string;
  /** Who paused it; null while it is not paused. */
  @ApiProperty({ example: null })
  pausedBy!: ActorView | null;
  /** The directive that it is drafting or sending just now; null: none. */
  currentDirectiveId!: string | null;
}

export class AgentList {
  /** The five capos. */
  agents!: AgentView[];
  /** The agents of any make that ask with tokens of the workspace, by name. */
  outsideAgents!: OutsideAgentView[];
}

/** Something an engine can do, from the trusted registry. */
export class EngineActionType extends PickType(WorkPacketSummary, ['kind', 'reversibility']) {
  /** The name of the action type. @example 'email.send' */
  type!: string;
  /** What it does, in one sentence. @example 'Sends a mail to people outside. It cannot be taken back.' */
  effect!: string;
}

/** The scope within which a capo executes. */
export class EngineView {
  /** The name of the engine. @example 'ops' */
  name!: string;
  /** The capo that runs it. @example 'capo_ops' */
  capo!: string;
  /** Its capo's responsibility. @example ['delivery', 'logistics', 'execution'] */
  domain!: string[];
  /** The status of its capo: halted, paused, error, awaiting-approval, active or idle. @example 'awaiting-approval' */
  status!: AgentStatus;
  /** What it can do. */
  actionTypes!: EngineActionType[];
}

export class EngineList {
  /** The five engines. */
  items!: EngineView[];
}
