import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Id } from '../../platform/kernel/ids.js';
import { DraftStandingOrder } from './draft-standing-order.js';
import { WrittenOrders } from './written-orders.js';

const PROPOSED = 'A capo proposed it; it decides nothing until a person activates it.';

/** Who proposes an order, and for whom. */
interface Proposal {
  by: Actor;
  teamId: Id<'team'> | null;
  workPacketId: string;
}

/** Makes a draft of an order that a capo proposed and a person, or an order, let pass. It stays a draft. */
@Injectable()
export class ProposeStandingOrder {
  constructor(
    private readonly db: Db,
    private readonly written: WrittenOrders,
    private readonly draftOrder: DraftStandingOrder,
  ) {}

  /**
   * In the open transaction; `proposed` is a body of `POST /standing-orders`. Answers the id of the order.
   * @throws ValidationFailed for what no person could create either
   */
  async execute(proposed: object, { by, teamId, workPacketId }: Proposal): Promise<Id<'so'>> {
    const content = await this.written.read(this.db.unit.scope, teamId, proposed);
    const order = this.draftOrder.execute(
      { ...content, heldBecause: PROPOSED, details: { workPacketId } },
      by,
    );
    return order.standingOrderId;
  }
}
