import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { newId } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import type { ApprovalEntity } from '../approvals/approval.entity.js';
import { Approvals } from '../approvals/approvals.repository.js';
import { RequestApproval } from '../approvals/request-approval.js';
import { isActionType, parametersOf, validateAction } from '../capos/action-types.js';
import type { Draft, DraftPacket } from '../capos/briefing.js';
import { CAPOS, engineOf } from '../capos/capo.js';
import { capoActor } from '../capos/capo-actor.js';
import { OutsideTargetsReader } from '../capos/outside-targets.reader.js';
import { unseenInPackets } from '../capos/unseen-text.js';
import type { GuardianEntity } from '../guardian/guardian.entity.js';
import { PolicyDenied } from '../guardian/guardian.errors.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { PolicyGate } from '../guardian/policy-gate.js';
import type { PolicyDecision } from '../guardian/policy-decision.js';
import { PacketEscalations } from './packets/packet-escalations.js';
import {
  actionOf,
  contentHash,
  decidedPacketOf,
  decisionsInReceipt,
  newPacket,
} from './packets/work-packet.js';
import { delayOf, delayOfWork } from './packets/throttled-packet.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { addCost, outputOf, titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { Directives } from './directives.repository.js';
import { EndDirective } from './end-directive.js';
import { nothingPrepared } from './nothing-prepared.js';
import { authorOf, outcomeOfDraft, readyContent, whyNobodyElseMayAllow } from './ready-content.js';

interface Accepted {
  directive: DirectiveEntity;
  draft: Draft;
  packets: WorkPacketEntity[];
  policy: PolicyDecision[];
  guardian: GuardianEntity;
}

/**
 * Accepts what a capo made: its work packets are checked against the registry, each decided by the guardian; then the draft waits for a
 * person, is released because the standing orders allow it, or ends because one of them forbids it.
 */
@Injectable()
export class AcceptDraft {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly gate: PolicyGate,
    private readonly targets: OutsideTargetsReader,
    private readonly directives: Directives,
    private readonly approvals: Approvals,
    private readonly requestApproval: RequestApproval,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
    private readonly endDirective: EndDirective,
    private readonly escalations: PacketEscalations,
  ) {}

  /** Answers whether the directive was charged for the draft; it is not where nobody wants a draft of it any more. */
  async execute(item: WorkItem, given: Draft): Promise<boolean> {
    const { workspaceId, id } = item;
    // No runner of ours hands such text over; whoever does, nothing of it leaves unseen.
    const draft = { ...given, concerns: [...given.concerns, ...unseenInPackets(given.packets)] };
    return this.db.transaction(scopeOfWork(item), async () => {
      const guardian = await this.guardians.lockShared(workspaceId);
      const approval = await this.approvals.lockPending(workspaceId, id);
      const directive = await this.directives.lockDrafting(workspaceId, id);
      this.work.complete(item);
      if (!directive) return false;
      const packets = await this.packetsOf(directive, draft);
      if (typeof packets === 'string') {
        const error = { code: 'INVALID_OUTPUT', message: packets };
        this.directives.chargeFailure(directive, addCost(directive.cost, draft.cost), error);
        this.transitions.noteUnused(directive, 'draft', error, draft);
        this.endDirective.fail(directive, approval, error, capoActor(directive.capo!));
        return true;
      }
      const decidable = packets.map((packet) => decidedPacketOf(packet, directive.priority));
      const policy = await this.gate.decide(decidable, {
        guardian,
        waitingAhead: (standingOrderIds) => this.packets.waitingAhead(workspaceId, standingOrderIds),
      });
      this.attach(directive, draft, packets, policy);
      await this.decide({ directive, draft, packets, policy, guardian }, approval);
      return true;
    });
  }

  private async decide(accepted: Accepted, approval: ApprovalEntity | undefined): Promise<void> {
    const { directive, draft, packets, policy } = accepted;
    const { concerns } = draft;
    const reasons = whyNobodyElseMayAllow(packets, concerns);
    const outcome = outcomeOfDraft(
      policy.map(({ decision }) => decision),
      reasons,
    );
    // Without a work packet there is nothing that anybody would have to allow, and nothing that could be carried out.
    const isEmpty = packets.length === 0 && reasons.length === 0;
    if (outcome === 'deny') await this.deny(accepted, approval);
    else if (directive.requiresApproval || approval) this.review(accepted, directive.approvalId!);
    else if (isEmpty) this.endDirective.endUnprepared(directive, nothingPrepared(draft));
    else if (outcome !== 'require_approval') this.send(accepted);
    else this.review(accepted, this.ask(directive));
  }

  /** Or why a work packet is not one that this capo can make: the registry is trusted, the draft is not. */
  private async packetsOf(directive: DirectiveEntity, draft: Draft): Promise<WorkPacketEntity[] | string> {
    const capo = directive.capo!;
    const { workspaceId, directiveId, teamId } = directive;
    const createdAt = this.clock.now();
    const targets = await this.targets.for(
      { workspaceId, teamIds: 'all' },
      draft.packets.map(({ type }) => type),
    );
    const packets: WorkPacketEntity[] = [];
    for (const [position, proposed] of draft.packets.entries()) {
      const lacking = proposed.needsInput.map(({ path }) => path);
      const validated = validateAction(engineOf(capo), proposed.type, proposed.params, {
        lacking,
        targets,
      });
      if (!validated.ok) return invalid(proposed.type, validated.faults);
      if (!canBeSupplied(proposed)) {
        return `The capo asked for input that an action of the type ${proposed.type} has no parameter for.`;
      }
      const origin = {
        workPacketId: newId('pkt'),
        workspaceId,
        teamId,
        directiveId,
        position,
        capo,
        createdAt,
      };
      packets.push(newPacket(proposed, validated, origin));
    }
    return packets;
  }

  private attach(
    directive: DirectiveEntity,
    draft: Draft,
    packets: readonly WorkPacketEntity[],
    policy: readonly PolicyDecision[],
  ): void {
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

  private async deny(
    { directive, packets, policy }: Accepted,
    approval: ApprovalEntity | undefined,
  ): Promise<void> {
    for (const [index, packet] of packets.entries()) {
      const { decision } = policy[index]!;
      this.packets.add(packet, decision.outcome === 'deny' ? 'deny' : 'cancel', { decision });
    }
    const message = policy
      .flatMap(({ decision }) => (decision.outcome === 'deny' ? decision.explanation : []))
      .join(' ');
    const error = { code: PolicyDenied.code, message: message || PolicyDenied.message };
    this.endDirective.fail(directive, approval, error, capoActor(directive.capo!));
    const decisions = policy.map(({ decision }) => decision);
    await this.escalations.overBudget(directive, titleOf(directive.text), decisions);
  }

  /** Lets the packets go; one that an order delays is decided again at the time that its decision says. */
  private send({ directive, packets, policy, guardian }: Accepted): void {
    const now = this.clock.now();
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
        const delay = delayOfWork(decision, directive.deadline, now);
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

  private review(accepted: Accepted, approvalId: string): void {
    const { directive, draft, packets, policy, guardian } = accepted;
    const { concerns } = draft;
    const { workspaceId, directiveId, deadline, engine } = directive;
    const title = titleOf(directive.text);
    for (const [index, packet] of packets.entries()) {
      this.packets.add(packet, 'ask', { decision: policy[index]!.decision });
    }
    this.requestApproval.makeReady(
      { workspaceId, approvalId, directiveId, title, deadline },
      readyContent(
        directive,
        packets,
        policy.map(({ decision }) => decision),
        { now: this.clock.now(), concerns },
      ),
      { author: authorOf(engine), by: capoActor(directive.capo!) },
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
}

/** What a draft lacks is a parameter of its action: nothing else could ever be supplied. */
function canBeSupplied({ type, needsInput }: DraftPacket): boolean {
  const known = isActionType(type) ? parametersOf(type) : [];
  return needsInput.every(({ path }) => known.some((name) => path === name || path.startsWith(`${name}.`)));
}

/** Names the parameters and says nothing of what a model wrote in them. */
function invalid(type: string, faults: readonly Fault[]): string {
  const action = `The capo proposed an action of the type ${cutText(type, 100)}`;
  if (faults.some(({ path }) => path === 'type')) return `${action}, which is outside its scope.`;
  const paths = [...new Set(faults.map(({ path }) => cutText(path, 100)))].slice(0, 5);
  return `${action} with invalid parameters: ${paths.join(', ')}.`;
}
