import { Injectable } from '@nestjs/common';
import { Work } from '../../platform/work/work.js';
import { type GuardianMode, TELL_MEMBERS } from '../terms/index.js';
import { Guardians } from './guardians.repository.js';
import { type GuardianAct, HaltableWork, type ResumedPacket } from './halting.js';
import { StopRevert } from './stop-revert.js';

/** Lets everything go on that a kill has halted, in the open transaction, which has locked the guardian. */
@Injectable()
export class LiftKill {
  constructor(
    private readonly guardians: Guardians,
    private readonly haltable: HaltableWork,
    private readonly work: Work,
    private readonly stopRevert: StopRevert,
  ) {}

  /** Answers the work packets that go on. A revert that the kill had stopped is over. */
  async execute(workspaceId: string, mode: GuardianMode, act: GuardianAct): Promise<ResumedPacket[]> {
    await this.stopRevert.execute(workspaceId);
    // Before the guardian forgets since when the clocks stand still.
    const resumed = await this.haltable.resume(workspaceId, act);
    this.guardians.leaveHalt(workspaceId, mode);
    this.work.enqueue(TELL_MEMBERS, { id: act.receiptId });
    return resumed;
  }
}
