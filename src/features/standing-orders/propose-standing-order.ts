import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { validationPipe } from '../../platform/http/validation.js';
import type { Id } from '../../platform/kernel/ids.js';
import { KnownZone } from '../workspaces/known-zone.js';
import { Workspaces } from '../workspaces/workspaces.repository.js';
import { DraftStandingOrder } from './draft-standing-order.js';
import type { OrderWhen } from './standing-order.js';
import { CreateStandingOrderBody } from './standing-orders.dto.js';

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
  readonly #validation = validationPipe();

  constructor(
    private readonly db: Db,
    private readonly workspaces: Workspaces,
    private readonly knownZone: KnownZone,
    private readonly draftOrder: DraftStandingOrder,
  ) {}

  /**
   * In the open transaction; `proposed` is a body of `POST /standing-orders`. Answers the id of the order.
   * @throws ValidationFailed for what no person could create either
   */
  async execute(proposed: object, { by, teamId, workPacketId }: Proposal): Promise<Id<'so'>> {
    const body: CreateStandingOrderBody = await this.#validation.transform(proposed, {
      type: 'body',
      metatype: CreateStandingOrderBody,
    });
    const { name, text, capos = null, effect, match, when = null, limits = null, budget = null } = body;
    const { approval = null, expiresAt = null } = body;
    await this.knownZone.require(when?.timezone, 'when.timezone');
    const rule = {
      teamId,
      capos,
      effect,
      match,
      when: when && (await this.inZone(when)),
      limits,
      budget,
      approval,
      expiresAt,
    };
    const order = this.draftOrder.execute(
      { name, text: text ?? name, rule, heldBecause: PROPOSED, details: { workPacketId } },
      by,
    );
    return order.standingOrderId;
  }

  /** A window keeps the zone it was meant in, whatever the workspace's becomes. */
  private async inZone(when: OrderWhen): Promise<OrderWhen> {
    if (when.timezone || !(when.days || when.from || when.to)) return when;
    const { timezone } = await this.workspaces.settings(this.db.unit.scope);
    return { ...when, timezone };
  }
}
