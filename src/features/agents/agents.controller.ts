import { Controller, Get, Param, Post } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { ACTION_TYPES, CAPOS, type CapoRole, actionTypesOf, isCapoRole } from '../capos/index.js';
import {
  type AgentStatus,
  EngineList,
  type EngineView,
  AgentList,
  AgentView,
  CAPO_PARAM,
} from './agents.dto.js';
import { AgentsReader } from './agents.reader.js';
import { AgentsService } from './agents.service.js';

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

@Controller('api/pro/agents')
export class AgentsController {
  constructor(
    private readonly agents: AgentsReader,
    private readonly service: AgentsService,
  ) {}

  /** The five capos and how they are doing, and the agents of any make that ask with tokens of the workspace. */
  @Get()
  @Route({ auth: 'member', returns: { 200: AgentList } })
  async list(@CurrentCaller() caller: Caller): Promise<AgentList> {
    const scope = scopeOf(caller);
    const [agents, outsideAgents] = await Promise.all([this.agents.list(scope), this.agents.outside(scope)]);
    return { agents, outsideAgents };
  }

  /** Keeps a capo from starting directives. */
  @ApiParam(CAPO_PARAM)
  @Post(':role/pause')
  @Route({ auth: 'member', role: 'admin', stops: true, returns: { 200: AgentView }, errors: [NotFound] })
  pause(@CurrentCaller() caller: Caller, @Param('role') role: string): Promise<AgentView> {
    return this.service.pause(caller, capoOf(role));
  }

  /** Lets a paused capo go on. */
  @ApiParam(CAPO_PARAM)
  @Post(':role/resume')
  @Route({ auth: 'member', role: 'admin', returns: { 200: AgentView }, errors: [NotFound] })
  resume(@CurrentCaller() caller: Caller, @Param('role') role: string): Promise<AgentView> {
    return this.service.resume(caller, capoOf(role));
  }
}

function capoOf(role: string): CapoRole {
  if (!isCapoRole(role)) throw new NotFound();
  return role;
}
