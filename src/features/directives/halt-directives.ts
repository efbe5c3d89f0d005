import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { Approvals } from '../approvals/approvals.repository.js';
import {
  type GuardianAct,
  type Haltable,
  HaltableWork,
  type Halted,
  type LiftingAct,
  type PlannedStep,
  type WorkStanding,
} from '../guardian/halting.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { titleOf } from './directive.js';
import { Directives } from './directives.repository.js';
import { SettleDirective } from './settle-directive.js';

/** Stops directives, their moves and the clocks of their approvals with a kill, and lets them go on with a revert. */
@Injectable()
export class HaltDirectives implements Haltable, OnModuleInit {
  constructor(
    private readonly haltableWork: HaltableWork,
    private readonly approvals: Approvals,
    private readonly packets: WorkPackets,
    private readonly directives: Directives,
    private readonly settleDirective: SettleDirective,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.haltableWork.register(this);
  }

  async halt(workspaceId: string, { at, receiptId }: GuardianAct): Promise<Halted> {
    this.approvals.freeze(workspaceId, at);
    const unconfirmed = await this.packets.halt(workspaceId);
    const halted = await this.directives.halt(workspaceId, receiptId, at);
    return { halted, unconfirmed };
  }

  async resume(workspaceId: string, { at, receiptId, killedAt }: LiftingAct): Promise<PlannedStep[]> {
    await this.approvals.unfreeze(workspaceId, killedAt, at);
    const packets = await this.packets.resume(workspaceId, at);
    for (const { workPacketId } of packets) this.jobs.wake('packet.send', workPacketId);
    await this.resumeDirectives(workspaceId, receiptId, at);
    return packets.map(({ workPacketId, reversibility }) => ({
      workPacketId,
      reversibility,
      compensation: null,
      status: 'done',
    }));
  }

  standing(scope: Scope, at: number): Promise<WorkStanding> {
    return this.packets.standing(scope, at);
  }

  private async resumeDirectives(workspaceId: string, receiptId: string, at: number): Promise<void> {
    const resumed = await this.directives.resume(workspaceId, receiptId, at);
    for (const { directiveId, stage } of resumed) {
      if (stage === 'route' || stage === 'draft') this.jobs.wake(`directive.${stage}`, directiveId);
    }
    // Moves that were under way when the kill came may all have ended meanwhile.
    const sending = resumed.filter(({ status }) => status === 'sending');
    const tallies = await this.packets.tallies(
      workspaceId,
      sending.map(({ directiveId }) => directiveId),
    );
    for (const directive of sending) {
      const tally = tallies.get(directive.directiveId);
      if (!tally || tally.open > 0) continue;
      this.settleDirective.conclude({ ...directive, workspaceId }, titleOf(directive.text), tally);
    }
  }
}
