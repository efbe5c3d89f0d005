import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import {
  type ApprovalEntity,
  type ApprovalPacket,
  type Edit,
  type EditSituation,
  type Edited,
  type OfDirective,
  concernsAfterEdit,
  packetsOf,
} from '../approvals/index.js';
import { OutsideTargetsReader, dangersOfPackets, stringsIn } from '../capos/index.js';
import { type PolicyDecision, PolicyDenied, PolicyGate, decisionsInReceipt } from '../guardian/index.js';
import { type Decision, strictestElectorate } from '../standing-orders/index.js';
import { outputOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { Directives } from './directives.repository.js';
import { type EditPlan, planEdit } from './draft-edit.js';
import { actionOf, decidedPacketOf } from './packets/work-packet.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { readyContent } from './ready-content.js';

/**
 * What an edit does to the work packets of a draft and to the directive. The approval is locked. What was changed or added
 * is decided by the policy as if a capo had drafted it; what was left alone keeps its decision.
 */
@Injectable()
export class EditOutput {
  constructor(
    private readonly db: Db,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly gate: PolicyGate,
    private readonly targets: OutsideTargetsReader,
  ) {}

  /** @throws ValidationFailed, PolicyDenied */
  async execute(
    approval: OfDirective<ApprovalEntity>,
    edit: Edit,
    situation: EditSituation,
  ): Promise<Edited | undefined> {
    const { workspaceId, directiveId } = approval;
    const directive = (await this.directives.lock(workspaceId, directiveId))!;
    const current = await this.packets.current(workspaceId, directiveId);
    const plan = await this.planOf(edit, directive, current, situation);
    const changes = [...plan.packets, ...plan.removed].flatMap(({ change }) => change ?? []);
    if (changes.length === 0) return undefined;

    const { decisions, anew } = await this.decide(directive, plan, situation);
    this.write(plan, decisions);
    const packets = plan.packets.map(({ packet }) => packet);
    // Another part may have left already; it is still a part of what the directive made.
    const others = current.filter(({ status }) => status !== 'awaiting_approval');
    directive.output = this.outputFrom(directive, [...others, ...packets]);
    this.directives.update(directive, {
      output: directive.output,
      workPacketIds: [
        ...new Set([...directive.workPacketIds, ...packets.map((packet) => packet.workPacketId)]),
      ],
      // The editor of a delegated directive is one of its requesters.
      requesterIds: [...new Set([...directive.requesterIds, ...situation.people])],
    });
    const content = this.contentOf(approval, directive, plan, decisions, situation);
    return { changes, content, details: { decisions: decisionsInReceipt(anew) } };
  }

  private async planOf(
    edit: Edit,
    directive: DirectiveEntity,
    current: readonly WorkPacketEntity[],
    { by, at }: EditSituation,
  ): Promise<EditPlan> {
    const { workspaceId, directiveId, teamId } = directive;
    const origin = { workspaceId, teamId, directiveId, capo: directive.capo!, createdAt: at };
    const waiting = current.filter(({ status }) => status === 'awaiting_approval');
    const nextPosition = Math.max(-1, ...current.map(({ position }) => position)) + 1;
    const written = stringsIn([directive.text, directive.context]).join('\n');
    const targets = await this.targets.for({ workspaceId, teamIds: 'all' }, [
      ...waiting.map(({ actionType }) => actionType),
      ...edit.add.map(({ action }) => action.type),
    ]);
    return planEdit(edit, waiting, { origin, by, nextPosition, written, targets });
  }

  /** One decision for each work packet that remains. @throws PolicyDenied */
  private async decide(
    { priority }: DirectiveEntity,
    { packets }: EditPlan,
    { guardian }: EditSituation,
  ): Promise<{ decisions: Decision[]; anew: PolicyDecision[] }> {
    const changed = packets.filter(({ change }) => change).map(({ packet }) => packet);
    // Standing orders of the whole workspace hold for a team as well, whose members do not see them.
    await this.db.unit.seeWholeWorkspace();
    const anew = await this.gate.decide(
      changed.map((packet) => decidedPacketOf(packet, priority)),
      { guardian },
    );
    const denied = anew.filter(({ decision }) => decision.outcome === 'deny');
    if (denied.length > 0) {
      const explanation = [...new Set(denied.flatMap(({ decision }) => decision.explanation))];
      throw new PolicyDenied({ message: explanation.join(' '), details: { explanation } });
    }
    const decided = new Map(changed.map((packet, index) => [packet, anew[index]!.decision]));
    return { decisions: packets.map(({ packet }) => decided.get(packet) ?? packet.decision!), anew };
  }

  private write({ packets, removed }: EditPlan, decisions: readonly Decision[]): void {
    for (const [index, { packet, change }] of packets.entries()) {
      const decision = decisions[index]!;
      const { title, target, params, needsInput, reversibility, compensation } = packet;
      if (change?.change === 'added') this.packets.add(packet, 'ask', { decision });
      else if (change) {
        const content = { title, target, params, needsInput, reversibility, compensation, decision };
        this.packets.rewrite(packet, content);
      }
    }
    for (const { packet } of removed) this.packets.transition(packet, 'cancel');
  }

  private outputFrom({ output, engine }: DirectiveEntity, packets: readonly WorkPacketEntity[]) {
    const inOrder = packets.toSorted((a, b) => a.position - b.position);
    return {
      ...outputOf({ engine: engine!, remarks: '' }, inOrder.map(actionOf)),
      remarks: output?.remarks ?? null,
    };
  }

  private contentOf(
    approval: ApprovalEntity,
    directive: DirectiveEntity,
    { packets }: EditPlan,
    decisions: readonly Decision[],
    { by, at }: EditSituation,
  ): Edited['content'] {
    const former = new Map(packetsOf(approval).map((packet) => [packet.workPacketId, packet]));
    const changes = new Map(packets.map(({ packet, change }) => [packet.workPacketId, change]));
    const writtenBy = ({ workPacketId }: WorkPacketEntity): Pick<ApprovalPacket, 'writtenBy' | 'edits'> => {
      const packet = former.get(workPacketId);
      if (!packet) return { writtenBy: 'person', edits: [] };
      const paths = changes.get(workPacketId)?.paths ?? [];
      const untouched = packet.edits.filter(({ path }) => !paths.includes(path));
      return {
        writtenBy: packet.writtenBy,
        edits: [...untouched, ...paths.map((path) => ({ path, by, at }))],
      };
    };
    const {
      capo: _capo,
      concerns: _concerns,
      ...content
    } = readyContent(
      directive,
      packets.map(({ packet }) => packet),
      decisions,
      {
        now: at,
        concerns: [
          ...dangersOfPackets(
            packets.map(({ packet: { actionType: type, ...packet } }) => ({ type, ...packet })),
          ),
          ...concernsAfterEdit(approval.concerns),
        ],
        writtenBy,
      },
    );
    return {
      ...content,
      // An edit gives nobody more time, and loosens nothing that was asked for before.
      expiresAt: Math.min(approval.expiresAt, content.expiresAt),
      onExpiry: approval.onExpiry === 'escalate' ? 'escalate' : content.onExpiry,
      selfApproval: approval.selfApproval && content.selfApproval,
      ...strictestElectorate([approval, content]),
    };
  }
}
