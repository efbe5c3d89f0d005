import { Controller, Get } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { ACTION_TYPES, CAPOS, type CapoRole, actionTypesOf } from '../capos/index.js';
import { type AgentStatus, EngineList, type EngineView } from './agents.dto.js';
import { AgentsReader } from './agents.reader.js';

@Controller('api/pro/engines')
export class EnginesController {
  constructor(private readonly agents: AgentsReader) {}

  /** The engines with what each can do. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/engines'),
    returns: { 200: EngineList },
  })
  async list(@CurrentCaller() caller: Caller): Promise<EngineList> {
    const agents = await this.agents.list(scopeOf(caller));
    return { items: agents.map(({ role, status }) => engineViewOf(role, status)) };
  }
}

function engineViewOf(role: CapoRole, status: AgentStatus): EngineView {
  const { engine, domain } = CAPOS[role];
  const actionTypes = actionTypesOf(engine).map((type) => {
    const { effect, kind, reversibility } = ACTION_TYPES[type];
    return { type, effect, kind, reversibility };
  });
  return { name: engine, capo: role, domain: [...domain], status, actionTypes };
}
