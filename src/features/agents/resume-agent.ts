import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Work } from '../../platform/work/work.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { CAPOS, type CapoRole, PausedCapos } from '../capos/index.js';
import { Directives } from '../directives/index.js';
import type { AgentView } from './agents.dto.js';
import { Guardians } from '../guardian/index.js';
import { AgentsReader } from './agents.reader.js';

/** Lets a paused capo go on: every directive that waited for it gets its turn. */
@Injectable()
export class ResumeAgent {
  constructor(
    private readonly paused: PausedCapos,
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly agents: AgentsReader,
    private readonly work: Work,
    private readonly receipts: Receipts,
  ) {}

  async execute(caller: Caller, role: CapoRole): Promise<AgentView> {
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
