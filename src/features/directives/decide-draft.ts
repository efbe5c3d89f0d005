import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Work } from '../../platform/work/work.js';
import { type ApprovalEntity, RequestApproval, type TellOfApproval } from '../approvals/index.js';
import { capoActor, CAPOS, type Draft } from '../capos/index.js';
import {
  decisionsInReceipt,
  type GuardianEntity,
  type LockedFacts,
  type PolicyDecision,
  PolicyDenied,
  PolicyGate,
} from '../guardian/index.js';
import type { Decision } from '../standing-orders/index.js';
import type { Priority } from '../terms/index.js';
import { ChargeUnused } from './charge-unused.js';
import { DirectiveTransitions } from './directive-transitions.js';
import type { DirectiveEntity } from './directive.entity.js';
import { addCost, outputOf, titleOf } from './directive.js';
import { Directives } from './directives.repository.js';
import { EndDirective, nothingPrepared } from './end-directive.js';
import { PacketEscalations } from './packets/packet-escalations.js';
import { delayOf, delayOfWork } from './packets/unsent-packets.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { actionOf, contentHash, decidedPacketOf } from './packets/work-packet.js';
import { WorkPacketsReader } from './packets/work-packets.reader.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { authorOf, outcomeOfDraft, readyContent, whyNobodyElseMayAllow } from './ready-content.js';

/** A draft whose work packets the registry knows, with what the open transaction has locked. */
interface CheckedDraft {
  guardian: GuardianEntity;
  /** The one that waits for the draft, if one does. */
  approval: ApprovalEntity | undefined;
  directive: DirectiveEntity;
  draft: Draft;
  packets: readonly WorkPacketEntity[];
  /** Where they were read with the locks. */
  facts?: LockedFacts | undefined;
  /** Where it was looked up with the locks; otherwise members are told by work of its own. */
  tell?: TellOfApproval | undefined;
}

/** A draft about which the guardian has decided: one decision for each of its work packets. */
interface DecidedDraft extends CheckedDraft {
  policy: readonly PolicyDecision[];
}

/**
 * What becomes of a draft. `deny`: the directive ends, since a standing order forbids a part of it. `review`: a person decides.
 * `end`: the directive ends, since nothing was prepared. `release`: its work packets leave.
 */
export type DraftVerdict = 'deny' | 'review' | 'end' | 'release';

/** What the verdict depends on. */
interface Judged {
  directive: Pick<DirectiveEntity, 'requiresApproval'>;
  approval: object | undefined;
  draft: Pick<Draft, 'concerns'>;
  packets: readonly Pick<WorkPacketEntity, 'title' | 'needsInput'>[];
  policy: readonly { decision: Pick<Decision, 'outcome'> }[];
}

export function verdictOn(decided: Judged): DraftVerdict {
  const { draft, packets, policy } = decided;
  const reasons = whyNobodyElseMayAllow(packets, draft.concerns);
  const outcome = outcomeOfDraft(
    policy.map(({ decision }) => decision),
    reasons,
  );
  if (outcome === 'deny') return 'deny';
  // Without a work packet there is nothing that anybody could approve, and nothing that could be carried out.
  if (packets.length === 0) return 'end';
  if (isAwaited(decided)) return 'review';
  return outcome === 'require_approval' ? 'review' : 'release';
}

/** Has the guardian decide about each work packet of a draft, in the open transaction, and does with the draft what follows. */
@Injectable()
export class DecideDraft {
  constructor(
    private readonly gate: PolicyGate,
    private readonly reader: WorkPacketsReader,
    private readonly packets: WorkPackets,
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
    private readonly requestApproval: RequestApproval,
    private readonly endDirective: EndDirective,
    private readonly chargeUnused: ChargeUnused,
    private readonly escalations: PacketEscalations,
    private readonly work: Work,
    private readonly clock: Clock,
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
      waitingAhead: (standingOrderIds) => this.reader.waitingAhead(workspaceId, standingOrderIds),
    });
    const decided = { ...checked, policy };
    this.record(decided);
    switch (verdictOn(decided)) {
      case 'deny':
        return this.deny(decided);
      case 'review':
        return this.review(decided);
      case 'end':
        return this.end(decided);
      case 'release':
        return this.release(decided);
    }
  }

  /** The directive has the draft from now on; its receipt has the decisions, and what it cost. */
  private record({ directive, draft, packets, policy }: DecidedDraft): void {
    const output = outputOf(draft, packets.map(actionOf));
    directive.output = output;
    directive.engine = draft.engine;
    this.directives.attachDraft(directive, {
      output,
      engine: draft.engine,
      cost: addCost(directive.cost, draft.cost),
      workPacketIds: [...directive.workPacketIds, ...packets.map((packet) => packet.workPacketId)],
    });
    this.transitions.note(directive, {
      actor: capoActor(directive.capo!),
      action: 'directive.drafted',
      summary: `${CAPOS[directive.capo!].name} drafted "${titleOf(directive.text)}".`,
      details: {
        engine: draft.engine,
        cost: draft.cost,
        contentHash: output.contentHash,
        packets: packets.length,
        decisions: decisionsInReceipt(policy),
      },
    });
  }

  /** Puts the draft before a person. */
  private review(decided: DecidedDraft): void {
    const { directive, draft, packets, policy, guardian, approval, tell } = decided;
    const approvalId = isAwaited(decided) ? directive.approvalId! : this.ask(directive);
    const { workspaceId, directiveId, deadline, engine } = directive;
    const title = titleOf(directive.text);
    const decisions = policy.map(({ decision }) => decision);
    for (const [index, packet] of packets.entries()) {
      this.packets.add(packet, 'ask', { decision: decisions[index]! });
    }
    this.requestApproval.makeReady(
      { workspaceId, approvalId, directiveId, title, deadline },
      readyContent(directive, packets, decisions, { now: this.clock.now(), concerns: draft.concerns }),
      {
        author: authorOf(engine),
        by: capoActor(directive.capo!),
        ...(tell && approval && { telling: { approval, tell } }),
      },
    );
    const receipt = {
      actor: capoActor(directive.capo!),
      action: 'approval.ready',
      summary: `The draft of "${title}" is ready for review.`,
      details: { approvalId },
      guardianEpoch: guardian.epoch,
    };
    if (directive.status === 'executing') this.transitions.apply(directive, 'ask', receipt, { approvalId });
    else this.transitions.note(directive, receipt);
  }

  /** A person is asked though the directive did not want it: no standing order covers what the capo wants to do. */
  private ask(directive: DirectiveEntity): string {
    const { workspaceId, teamId, directiveId, capo, priority, deadline, requesterIds } = directive;
    const approvalId = newId('apr');
    const title = titleOf(directive.text);
    const requestedBy = directive.requestedBy ?? directive.createdBy;
    const asked = { approvalId, workspaceId, teamId, directiveId, capo, title, priority, round: 0, deadline };
    this.requestApproval.open({ ...asked, requestedBy, requesterIds });
    return approvalId;
  }

  /** Queues what the standing orders allow. What one delays is decided again at the time that its decision says. */
  private release({ directive, packets, policy, guardian }: DecidedDraft): void {
    const atOnce: { id: string }[] = [];
    for (const [index, packet] of packets.entries()) {
      const decided = policy[index]!;
      const { decision } = decided;
      const allowed = { decision, allowedHash: contentHash(packet), allowedBy: 'policy' as const };
      this.packets.add(packet, 'allow', { ...allowed, ...delayOf(decision) });
      if (decision.outcome === 'allow') {
        this.gate.use(decided);
        atOnce.push({ id: packet.workPacketId });
      } else {
        const delay = delayOfWork(decision, directive.deadline, decided.input.at);
        this.work.enqueueDelayed('packet.send', packet.workPacketId, delay);
      }
    }
    this.work.enqueue('packet.send', ...atOnce);
    this.transitions.apply(directive, 'allow', {
      actor: capoActor(directive.capo!),
      action: 'directive.sending',
      summary: `"${titleOf(directive.text)}" was released: the standing orders allow it.`,
      details: { packets: packets.length, delayed: packets.length - atOnce.length },
      guardianEpoch: guardian.epoch,
    });
  }

  /** The capo proposed what the registry does not know. */
  invalid({ directive, approval, draft }: Omit<CheckedDraft, 'packets'>, message: string): void {
    const error = { code: 'INVALID_OUTPUT', message };
    this.chargeUnused.forFailure(directive, 'draft', draft, error);
    this.endDirective.giveUp(directive, approval, error);
  }

  /** A standing order forbids a part of it. */
  private async deny({ directive, approval, packets, policy }: DecidedDraft): Promise<void> {
    for (const [index, packet] of packets.entries()) {
      const { decision } = policy[index]!;
      this.packets.add(packet, decision.outcome === 'deny' ? 'deny' : 'cancel', { decision });
    }
    const decisions = policy.map(({ decision }) => decision);
    const message = decisions
      .flatMap(({ outcome, explanation }) => (outcome === 'deny' ? explanation : []))
      .join(' ');
    const error = { code: PolicyDenied.code, message: message || PolicyDenied.message };
    this.endDirective.fail(directive, approval, error, capoActor(directive.capo!));
    await this.escalations.overBudget(directive, titleOf(directive.text), decisions);
  }

  /** There is nothing in it that could be carried out. */
  private end({ directive, approval, draft }: DecidedDraft): void {
    this.endDirective.giveUp(directive, approval, nothingPrepared(draft));
  }
}

/** A person reviews it whatever is decided, and the approval for that is open already. */
function isAwaited({ directive, approval }: Pick<Judged, 'directive' | 'approval'>): boolean {
  return directive.requiresApproval || approval !== undefined;
}

function decidedPackets(packets: readonly WorkPacketEntity[], priority: Priority) {
  return packets.map((packet) => decidedPacketOf(packet, priority));
}
