import { Injectable } from '@nestjs/common';
import { type GuardianEntity, type PolicyDecision, PolicyGate } from '../guardian/index.js';
import { decidedPacketOf } from './packets/work-packet.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPacketsReader } from './packets/work-packets.reader.js';
import { type CheckedDraft, type DecidedDraft, verdictOn } from './decided-draft.js';
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

  async execute(checked: CheckedDraft): Promise<void> {
    const { directive, guardian, packets } = checked;
    return this.follow({ ...checked, policy: await this.policyOn(packets, directive, guardian) });
  }

  /** What the guardian decides; its lock may travel in the same message. */
  policyOn(
    packets: readonly WorkPacketEntity[],
    { workspaceId, priority }: Pick<DirectiveEntity, 'workspaceId' | 'priority'>,
    guardian: GuardianEntity | Promise<GuardianEntity>,
  ): Promise<PolicyDecision[]> {
    return this.gate.decide(
      packets.map((packet) => decidedPacketOf(packet, priority)),
      {
        guardian,
        waitingAhead: (standingOrderIds) => this.packets.waitingAhead(workspaceId, standingOrderIds),
      },
    );
  }

  /** What follows from that. */
  async follow(decided: DecidedDraft): Promise<void> {
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
