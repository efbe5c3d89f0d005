import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { OutsideTargetsReader } from '../capos/index.js';
import {
  type DirectiveEntity,
  Directives,
  type WorkPacketEntity,
  WorkPacketsReader,
} from '../directives/index.js';
import {
  ActionReversibility,
  OrderTools,
  ruleFaults,
  type StandingOrderEntity,
  SurroundingsOfOrder,
} from '../standing-orders/index.js';
import type { CapoRole } from '../terms/index.js';
import type { EvalTarget } from './eval-run.entity.js';
import type { EvalKind, Rule } from './rule.js';
import { SAFETY_RULES } from './safety-rules.js';
import type { SafetyTarget } from './safety-blast-radius.js';
import { SKILL_RULES, type SkillTarget } from './skill-rules.js';
import { SOUNDNESS_RULES, type SoundnessTarget } from './soundness-rules.js';

/** A stored work packet with all that its soundness depends on. */
interface StoredPacket extends SoundnessTarget {
  packet: WorkPacketEntity;
  directive: DirectiveEntity;
}

/** What an eval looks at, put together with all that its rules depend on. */
@Injectable()
export class EvalTargets {
  constructor(
    private readonly surroundings: SurroundingsOfOrder,
    private readonly actions: ActionReversibility,
    private readonly orderTools: OrderTools,
    private readonly clock: Clock,
    private readonly packets: WorkPacketsReader,
    private readonly directives: Directives,
    private readonly targets: OutsideTargetsReader,
  ) {}

  /** What the safety of an order depends on, in the open transaction. */
  async order(order: StandingOrderEntity): Promise<SafetyTarget> {
    const at = this.clock.now();
    const { others, mostSpent } = await this.surroundings.read(order, at);
    const { budget } = order;
    const spent = budget && mostSpent !== null ? { [budget.currency]: mostSpent } : {};
    const named = await this.orderTools.active(order.workspaceId, [order.match]);
    const parameters = await this.orderTools.parameters(order.workspaceId, order.match);
    const faults = ruleFaults(order, this.actions.known(), at, parameters);
    const tools = named.map(({ name, reversibility, recipientsPath, amountPath }) => [
      name,
      {
        classes: [reversibility],
        engines: [],
        reachesPeople: recipientsPath !== null,
        carriesAmount: amountPath !== null,
      },
    ]);
    return { order: { ...order, tools: Object.fromEntries(tools) }, others, spent, faults, at };
  }

  /**
   * What the soundness of a work packet depends on.
   * @throws NotFound for one that is missing or outside the scope
   */
  async packet(scope: Scope, workPacketId: string): Promise<StoredPacket> {
    const packet = isId('pkt', workPacketId) ? await this.packets.find(scope, workPacketId) : undefined;
    const directive = packet && (await this.directives.find(scope, packet.directiveId));
    if (!packet || !directive) throw new NotFound();
    const { workspaceId } = scope;
    const targets = await this.targets.for({ workspaceId, teamIds: 'all' }, [packet.actionType]);
    return { packet, directive, targets };
  }
}

export const KIND_OF: Readonly<Record<EvalTarget, EvalKind>> = {
  standing_order: 'standing_order_safety',
  workflow_candidate: 'workflow_candidate_soundness',
  skill: 'skill_definition_syntax',
};

/** What a run is about: a target with the rules that it is held against, and how a receipt names it. */
export interface EvalSubject<Target = unknown> {
  kind: EvalKind;
  entityType: EvalTarget;
  entityId: string;
  version: number | null;
  teamId: string | null;
  directiveId: string | null;
  capo: CapoRole | null;
  /** How a sentence names it, such as `the standing order "Delivery mail"`. */
  called: string;
  rules: readonly Rule<Target>[];
  target: Target;
}

export function orderSubject(
  {
    standingOrderId,
    version,
    teamId,
    name,
  }: Pick<StandingOrderEntity, 'standingOrderId' | 'version' | 'teamId' | 'name'>,
  target: SafetyTarget,
): EvalSubject<SafetyTarget> {
  return {
    kind: KIND_OF.standing_order,
    entityType: 'standing_order',
    entityId: standingOrderId,
    version,
    teamId,
    directiveId: null,
    capo: null,
    called: `the standing order "${name}"`,
    rules: SAFETY_RULES,
    target,
  };
}

export function packetSubject({ packet, directive, targets }: StoredPacket): EvalSubject<SoundnessTarget> {
  const { workPacketId, teamId, directiveId, capo, title } = packet;
  return {
    kind: KIND_OF.workflow_candidate,
    entityType: 'workflow_candidate',
    entityId: workPacketId,
    version: null,
    teamId,
    directiveId,
    capo,
    called: `the work packet "${title}"`,
    rules: SOUNDNESS_RULES,
    target: { packet, directive, targets },
  };
}

export function skillSubject(
  name: string,
  target: SkillTarget,
  { teamId, capo }: { teamId: string | null; capo: CapoRole | null },
): EvalSubject<SkillTarget> {
  const { schemaVersion } = target;
  return {
    kind: KIND_OF.skill,
    entityType: 'skill',
    entityId: name,
    version: isVersion(schemaVersion) ? schemaVersion : null,
    teamId,
    directiveId: null,
    capo,
    called: `the skill "${name}"`,
    rules: SKILL_RULES,
    target,
  };
}

/** As the column holds it; any other is a finding. */
function isVersion(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31;
}
