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
import type { SafetyTarget } from './safety-target.js';
import type { SoundnessTarget } from './soundness-rules.js';

/** A stored work packet with all that its soundness depends on. */
export interface StoredPacket extends SoundnessTarget {
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
