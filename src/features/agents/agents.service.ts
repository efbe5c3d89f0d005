import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { CAPOS, type CapoRole, PausedCapos } from '../capos/index.js';
import { Directives } from '../directives/index.js';
import { Guardians } from '../guardian/index.js';
import type { AgentView } from './agents.dto.js';
import { AgentsReader } from './agents.reader.js';

@Injectable()
export class AgentsService {
  constructor(
    private readonly paused: PausedCapos,
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly agents: AgentsReader,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** Keeps a capo from starting directives; it may finish what it is working on. */
  async pause(caller: Caller, role: CapoRole): Promise<AgentView> {
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

  /** Lets a paused capo go on: every directive that waited for it gets its turn. */
  async resume(caller: Caller, role: CapoRole): Promise<AgentView> {
    const { workspaceId } = caller;
    // A kill changes the same directives in another order, so the two take turns.
    await this.guardians.lockShared(workspaceId);
    if (await this.paused.resume(workspaceId, role)) {
      const waiting = await this.directives.lockOpenOf(workspaceId, role);
      const woken = await this.work.unpark('directive.draft', waiting);
      this.receipts.append({
        actor: actorOf(caller),
        action: 'agent.resumed',
        entity: { type: 'agent', id: role },
        capo: role,
        summary: `${caller.name} resumed ${CAPOS[role].name}.`,
        details: { woken },
      });
    }
    return this.agents.read(scopeOf(caller), role);
  }
}
