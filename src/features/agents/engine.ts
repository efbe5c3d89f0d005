import { ACTION_TYPES, CAPOS, type CapoRole, actionTypesOf } from '../capos/index.js';
import type { AgentStatus } from './agents.dto.js';
import type { EngineView } from './engines.dto.js';

export function engineViewOf(role: CapoRole, status: AgentStatus): EngineView {
  const { engine, domain } = CAPOS[role];
  const actionTypes = actionTypesOf(engine).map((type) => {
    const { effect, kind, reversibility } = ACTION_TYPES[type];
    return { type, effect, kind, reversibility };
  });
  return { name: engine, capo: role, domain: [...domain], status, actionTypes };
}
