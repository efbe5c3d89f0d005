import { Controller, Get } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { AgentsReader } from './agents.reader.js';
import { engineViewOf } from './engine.js';
import { EngineList } from './engines.dto.js';

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
