import { PickType } from '@nestjs/swagger';
import { WorkPacketSummary } from '../directives/index.js';
import type { AgentStatus } from './agents.dto.js';

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
  /**
   * The status of its capo: halted, paused, error, awaiting-approval, active or idle.
   * @example 'awaiting-approval'
   */
  status!: AgentStatus;
  /** What it can do. */
  actionTypes!: EngineActionType[];
}

export class EngineList {
  /** The five engines. */
  items!: EngineView[];
}
