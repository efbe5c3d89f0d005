import type { AgentStatus } from './agents.dto.js';

/** Something an engine can do, from the trusted registry. */
export class EngineActionType {
  type!: string;
  /** What it does, in one sentence. */
  effect!: string;
  /** document, message, call, signal, delegation, record or proposal */
  kind!: string;
  /** read_only, reversible, externally_reversible or irreversible */
  reversibility!: string;
}

/** The scope within which a capo executes. */
export class EngineView {
  name!: string;
  /** The capo that runs it. */
  capo!: string;
  domain!: string[];
  /** The status of its capo. */
  status!: AgentStatus;
  actionTypes!: EngineActionType[];
}

export class EngineList {
  items!: EngineView[];
}
