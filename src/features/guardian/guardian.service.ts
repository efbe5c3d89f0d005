import { Injectable } from '@nestjs/common';
import { type Caller, actorOf, mayRead, scopeOf } from '../../platform/auth/caller.js';
import { Channel } from '../../platform/database/channel.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { Events } from '../events/index.js';
import { GuardianHalted, type GuardianMode, TELL_MEMBERS } from '../terms/index.js';
import type { GuardianView, KillAnswer, UnconfirmedPacket } from './guardian.dto.js';
import { KILLED_TOPIC, letsNothingLeave, viewOf } from './guardian.js';
import { Guardians } from './guardians.repository.js';
import { HaltableWork, type Unconfirmed } from './halting.js';
import { LABELS } from './checkpoint.service.js';

/** Stops a workspace, and sets how much goes by itself while it is not stopped. */
@Injectable()
export class GuardianService {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly haltable: HaltableWork,
    private readonly work: Work,
    private readonly receipts: Receipts,
    private readonly events: Events,
    private readonly channel: Channel,
  ) {}

  /**
   * Halts all autonomous operations of the workspace (SPECIFICATION, States 4): mode, epoch, halted work and receipt in one
   * transaction, after a checkpoint of what is in force. Once it has committed no dispatch can start, since each locks the
   * guardian's row while it marks a packet as sending; runs in progress are aborted in every process by the message on the channel.
   */
  async kill(caller: Caller, reason: string | null): Promise<KillAnswer> {
    const { workspaceId } = caller;
    // Anyone who may act may stop, and a stop concerns every team.
    await this.db.unit.seeWholeWorkspace();
    const at = this.clock.now();
    const checkpoint = { checkpointId: newId('chk'), label: LABELS.kill };
    const killed = await this.guardians.kill(workspaceId, { by: actorOf(caller), reason, at, ...checkpoint });
    if (!killed) return this.killedAlready(workspaceId);
    const receiptId = newId('rcp');
    const { halted, unconfirmed } = await this.haltable.halt(workspaceId, { at, receiptId });
    const { none = [], ...ofTeams } = Object.groupBy(unconfirmed, ({ teamId }) => teamId ?? 'none');
    const kill = {
      actor: actorOf(caller),
      entity: { type: 'guardian', id: workspaceId },
      guardianEpoch: killed.epoch,
    };
    this.receipts.append({
      ...kill,
      receiptId,
      action: 'guardian.killed',
      summary: `${caller.name} engaged the kill switch${reason ? `: ${reason}` : '.'}`,
      // A kill is engaged whether or not a checkpoint could be taken before it.
      details: { reason, halted, unconfirmed: none.map(shown), checkpoint: killed.checkpoint },
    });
    // Receipts of the workspace are read by members who may not see what a team sends.
    for (const [teamId, packets = []] of Object.entries(ofTeams)) {
      this.receipts.append({
        ...kill,
        action: 'guardian.unconfirmed',
        teamId,
        summary: `${packets.length} work packet${packets.length === 1 ? ' was' : 's were'} being sent when ${caller.name} engaged the kill switch; whether ${packets.length === 1 ? 'it has' : 'they have'} left is not known yet.`,
        details: { unconfirmed: packets.map(shown) },
      });
    }
    this.events.record('kill.activated', { reason, epoch: killed.epoch, halted });
    this.work.enqueue(TELL_MEMBERS, { id: receiptId });
    this.channel.publish(KILLED_TOPIC, workspaceId);
    return {
      mode: 'killed',
      changed: true,
      epoch: killed.epoch,
      killedAt: at,
      receiptId,
      halted,
      // A stop concerns every team; what may still arrive is named to those who may see it.
      unconfirmed: unconfirmed.filter(({ teamId }) => mayRead(caller, teamId)).map(shown),
    };
  }

  /**
   * Sets how much the guardian lets pass; out of `killed` only a revert leads.
   * @throws GuardianHalted while the kill switch is engaged
   */
  async setMode(caller: Caller, mode: GuardianMode): Promise<GuardianView> {
    const changed = await this.guardians.setMode(caller.workspaceId, mode);
    if (!changed) throw new GuardianHalted();
    if (!letsNothingLeave(mode)) this.haltable.releaseHeldBack();
    this.receipts.append({
      actor: actorOf(caller),
      action: 'guardian.mode_changed',
      entity: { type: 'guardian', id: caller.workspaceId },
      summary: `${caller.name} set the mode of the guardian to ${mode}.`,
      details: { mode },
      guardianEpoch: changed.epoch,
    });
    return viewOf(changed, await this.haltable.heldBack(scopeOf(caller), this.clock.now()));
  }

  private async killedAlready(workspaceId: string): Promise<KillAnswer> {
    const { epoch, killedAt } = await this.guardians.lockShared(workspaceId);
    const halted = { queued: 0, executing: 0, sending: 0, voided: 0 };
    return {
      mode: 'killed',
      changed: false,
      epoch,
      killedAt: killedAt!,
      receiptId: null,
      halted,
      unconfirmed: [],
    };
  }
}

function shown({ teamId: _team, ...unconfirmed }: Unconfirmed): UnconfirmedPacket {
  return unconfirmed;
}
