import { Injectable } from '@nestjs/common';
import { PolicyGate } from '../guardian/index.js';
import { decidedPacketOf } from './packets/work-packet.js';
import { WorkPacketsReader } from './packets/work-packets.reader.js';
import { type CheckedDraft, verdictOn } from './decided-draft.js';
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

  async execute(checked: CheckedDraft): Promise<void> {
    const { directive, guardian, packets } = checked;
    const policy = await this.gate.decide(
      packets.map((packet) => decidedPacketOf(packet, directive.priority)),
      {
        guardian,
        waitingAhead: (standingOrderIds) =>
          this.packets.waitingAhead(directive.workspaceId, standingOrderIds),
      },
    );
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
