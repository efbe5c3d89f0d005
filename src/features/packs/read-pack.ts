import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { StandingOrders } from '../standing-orders/index.js';
import type { SkillPackView } from './skill-packs.dto.js';
import { SkillPacks } from './skill-packs.repository.js';

/** A pack with its skills, and with those of its standing orders that the caller may see. */
@Injectable()
export class ReadPack {
  constructor(
    private readonly packs: SkillPacks,
    private readonly orders: StandingOrders,
  ) {}

  /** @throws NotFound */
  async execute(scope: Scope, packId: string): Promise<SkillPackView> {
    const pack = await this.packs.get(scope, packId);
    const skills = await this.packs.skillsOf(scope, packId);
    const orders = await this.packs.ordersOf(scope, packId);
    const visible = await this.orders.visible(
      scope,
      orders.flatMap(({ standingOrderId }) => standingOrderId ?? []),
    );
    return {
      ...pack,
      skills: skills.map(({ name, capo, status, reason, definition, evalRunId, score }) => ({
        name,
        capo,
        status,
        reason,
        definition: definition && { ...definition },
        evalRunId,
        score,
      })),
      standingOrders: orders.map(({ orderKey: key, status, reason, standingOrderId: id }) => ({
        key,
        // What came of it afterwards its own row says: archiving an order knows nothing of packs.
        status: status === 'arrived' && id !== null && visible.get(id) === 'archived' ? 'archived' : status,
        reason,
        standingOrderId: id !== null && visible.has(id) ? id : null,
      })),
    };
  }
}
