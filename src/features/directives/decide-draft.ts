import { Injectable } from '@nestjs/common';
import { type LockedFacts, PolicyGate } from '../guardian/index.js';
import type { Priority } from '../terms/index.js';
import { decidedPacketOf } from './packets/work-packet.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPacketsReader } from './packets/work-packets.reader.js';
import { type CheckedDraft, verdictOn } from './decided-draft.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DiscardDraft } from './discard-draft.js';
import { RecordDraft } from './record-draft.js';
import { ReleaseDraft } from './release-draft.js';
import { ReviewDraft } from './review-draft.js';

/** Has the guardian decide about each work packet of a draft, in the open transaction, and does with the draft what follows. */
@Injectable()
export class DecideDraft {
  constructor(
    private readonly gate: PolicyGate,
    private readonly packets: WorkPacketsReader,
    private readonly recordDraft: RecordDraft,
    private readonly discardDraft: DiscardDraft,
    private readonly reviewDraft: ReviewDraft,
    private readonly releaseDraft: ReleaseDraft,
  ) {}

  /** What {@link execute} locks and reads first, for a caller that locks the draft in the same message, in front of it. */
  lock(
    packets: readonly WorkPacketEntity[],
    { priority }: Pick<DirectiveEntity, 'priority'>,
  ): Promise<LockedFacts> {
    return this.gate.lock(decidedPackets(packets, priority));
  }

  async execute(checked: CheckedDraft): Promise<void> {
    const { directive, guardian, packets, facts } = checked;
    const { workspaceId, priority } = directive;
    const policy = await this.gate.decide(decidedPackets(packets, priority), {
      guardian,
      facts,
      waitingAhead: (standingOrderIds) => this.packets.waitingAhead(workspaceId, standingOrderIds),
    });
    const decided = { ...checked, policy };
    this.recordDraft.execute(decided);
    switch (verdictOn(decided)) {
      case 'deny':
        return this.discardDraft.denied(decided);
      case 'review':
        return this.reviewDraft.execute(decided);
      case 'end':
        return this.discardDraft.unprepared(decided);
      case 'release':
        return this.releaseDraft.execute(decided);
    }
  }
}

function decidedPackets(packets: readonly WorkPacketEntity[], priority: Priority) {
  return packets.map((packet) => decidedPacketOf(packet, priority));
}
