import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Work } from '../../platform/work/work.js';
import { Approvals } from '../approvals/index.js';
import {
  COMPENSATE,
  type GuardianAct,
  type Haltable,
  HaltableWork,
  type Halted,
  type HeldBack,
  type ResumedPacket,
} from '../guardian/index.js';
import { CompleteDirective } from './complete-directive.js';
import { Directives } from './directives.repository.js';
import { SEND_AGAIN_WORK } from './packets/send-again.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPacketsReader } from './packets/work-packets.reader.js';
import { WorkPackets } from './packets/work-packets.repository.js';

/** A draft under way is void; resuming makes another. */
const DRAFTING_WORK = ['directive.route', 'directive.draft'];
/** A packet that has been handed out still says how it ended. */
const SENDING_WORK = ['packet.send', SEND_AGAIN_WORK];

/** Stops directives and their packets with a kill, which stops the clocks of approvals by itself; a revert lets all go on. */
@Injectable()
export class HaltDirectives implements Haltable, OnModuleInit {
  constructor(
    private readonly haltableWork: HaltableWork,
    private readonly approvals: Approvals,
    private readonly packets: WorkPackets,
    private readonly reader: WorkPacketsReader,
    private readonly directives: Directives,
    private readonly completeDirective: CompleteDirective,
    private readonly work: Work,
  ) {}

  onModuleInit(): void {
    this.haltableWork.register(this);
  }

  async halt(workspaceId: string, { at, receiptId }: GuardianAct): Promise<Halted> {
    const unconfirmed = await this.packets.halt(workspaceId);
    const halted = await this.directives.halt(workspaceId, receiptId, at);
    this.work.parkAll(DRAFTING_WORK);
    this.work.parkUnclaimed([...SENDING_WORK, COMPENSATE]);
    return { halted, unconfirmed };
  }

  async resume(workspaceId: string, { at, receiptId }: GuardianAct): Promise<ResumedPacket[]> {
    this.approvals.unfreeze(workspaceId, at);
    const packets = await this.packets.resume(workspaceId);
    const directives = await this.directives.resume(workspaceId, receiptId, at);
    await this.completeDirective.resumed(
      workspaceId,
      directives.filter(({ status }) => status === 'sending'),
    );
    this.work.unparkAll([...DRAFTING_WORK, ...SENDING_WORK, COMPENSATE]);
    // Each, whatever became of its work meanwhile: what could not be sent while it was halted may have been given up.
    this.work.enqueue('packet.send', ...packets.map(({ workPacketId }) => ({ id: workPacketId })));
    return packets.map((packet) => lineOf(packet, 'done'));
  }

  async halted(workspaceId: string): Promise<ResumedPacket[]> {
    const packets = await this.packets.halted(workspaceId);
    return packets.map((packet) => lineOf(packet, 'planned'));
  }

  releaseHeldBack(): void {
    this.work.unparkAll([...SENDING_WORK, COMPENSATE]);
  }

  heldBack(scope: Scope, at: number): Promise<HeldBack> {
    return this.reader.heldBack(scope, at);
  }
}

function lineOf(
  { workPacketId, reversibility }: Pick<WorkPacketEntity, 'workPacketId' | 'reversibility'>,
  status: ResumedPacket['status'],
): ResumedPacket {
  return { workPacketId, reversibility, compensation: null, status, reason: null };
}
