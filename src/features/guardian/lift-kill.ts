import { Injectable } from '@nestjs/common';
import type { GuardianMode } from '../terms/terms.js';
import { Guardians } from './guardians.repository.js';
import { HaltableWork, type LiftingAct, type ResumedPacket } from './halting.js';
import { StopRevert } from './stop-revert.js';

/** Lets everything go on that a kill has halted, in the open transaction, which has locked the guardian. */
@Injectable()
export class LiftKill {
  constructor(
    private readonly guardians: Guardians,
    private readonly work: HaltableWork,
    private readonly stopRevert: StopRevert,
  ) {}

  /** Answers the work packets that go on. A revert that the kill had stopped is over. */
  async execute(workspaceId: string, mode: GuardianMode, act: LiftingAct): Promise<ResumedPacket[]> {
    await this.stopRevert.execute(workspaceId);
    this.guardians.leaveHalt(workspaceId, mode);
    return this.work.resume(workspaceId, act);
  }
}
