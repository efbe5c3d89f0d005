import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { GuardianHalted, type GuardianMode } from '../terms/index.js';
import { letsNothingLeave, viewOf } from './guardian.js';
import type { GuardianView } from './guardian.dto.js';
import { Guardians } from './guardians.repository.js';
import { HaltableWork } from './halting.js';

/** Sets the guardian's mode; out of `killed` only a revert leads. */
@Injectable()
export class ChangeMode {
  constructor(
    private readonly guardians: Guardians,
    private readonly work: HaltableWork,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws GuardianHalted while the kill switch is engaged */
  async execute(caller: Caller, mode: GuardianMode): Promise<GuardianView> {
    const changed = await this.guardians.setMode(caller.workspaceId, mode);
    if (!changed) throw new GuardianHalted();
    if (!letsNothingLeave(mode)) this.work.releaseHeldBack();
    this.receipts.append({
      actor: actorOf(caller),
      action: 'guardian.mode_changed',
      entity: { type: 'guardian', id: caller.workspaceId },
      summary: `${caller.name} set the mode of the guardian to ${mode}.`,
      details: { mode },
      guardianEpoch: changed.epoch,
    });
    return viewOf(changed, await this.work.heldBack(scopeOf(caller), this.clock.now()));
  }
}
