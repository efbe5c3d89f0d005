import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { CAPOS, type CapoRole, PausedCapos } from '../capos/index.js';
import type { AgentView } from './agents.dto.js';
import { AgentsReader } from './agents.reader.js';

/** Keeps a capo from starting directives; it may finish what it is working on. */
@Injectable()
export class PauseAgent {
  constructor(
    private readonly paused: PausedCapos,
    private readonly agents: AgentsReader,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  async execute(caller: Caller, role: CapoRole): Promise<AgentView> {
    const by = actorOf(caller);
    if (await this.paused.pause(caller.workspaceId, role, by, this.clock.now())) {
      this.receipts.append({
        actor: by,
        action: 'agent.paused',
        entity: { type: 'agent', id: role },
        capo: role,
        summary: `${caller.name} paused ${CAPOS[role].name}.`,
      });
    }
    return this.agents.read(scopeOf(caller), role);
  }
}
