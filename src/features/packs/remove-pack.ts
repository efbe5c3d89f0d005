import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { Events } from '../events/index.js';
import { ArchiveOrders, type ArchivedOrders } from '../standing-orders/index.js';
import { INSTALL_WORK } from './pack-work.js';
import type { SkillPackEntity } from './skill-pack.entity.js';
import { SkillPacks } from './skill-packs.repository.js';

/** How a pack ends. */
interface Removal {
  status: 'uninstalled' | 'revoked';
  by: Actor;
  reason: string | null;
  scope: Scope;
}

/** Ends a pack in one transaction: its orders are archived, its skills reach no further draft, and its fan-out stops. */
@Injectable()
export class RemovePack {
  constructor(
    private readonly packs: SkillPacks,
    private readonly archiveOrders: ArchiveOrders,
    private readonly work: Work,
    private readonly events: Events,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** The pack is locked, and the workspace has it. */
  async execute(pack: SkillPackEntity, { status, by, reason, scope }: Removal): Promise<ArchivedOrders> {
    const { packId, name, version, publisher } = pack;
    const orders = await this.packs.ordersOf(scope, packId);
    const ids = orders.flatMap(({ standingOrderId, formerIds }) => [standingOrderId ?? [], formerIds].flat());
    const ended = await this.archiveOrders.execute(ids, by, {
      details: { packId, packVersion: version, reason },
      // What a publisher says must not let anything through that a person has restrained.
      keepRestraints: status === 'revoked',
    });
    const skills = await this.packs.skillsOf(scope, packId);
    this.packs.deleteSkills(pack);
    this.packs.update(pack, { status, removedBy: by, removedAt: this.clock.now(), reason });
    this.work.cancel(INSTALL_WORK, [packId]);
    this.receipts.append({
      actor: by,
      action: `skill_pack.${status}`,
      entity: { type: 'skill_pack', id: packId },
      summary: `${by.name} ${status} the skill pack ${name} ${version} of ${publisher}${reason === null ? '.' : `: ${reason}`}`,
      details: {
        name,
        version,
        publisher,
        reason,
        skills: skills.map((skill) => skill.name),
        archivedOrders: ended.archived,
        keptOrders: ended.kept,
      },
    });
    this.events.record('pack.revoked', { packId, version, reason: reason ?? 'uninstalled' });
    return ended;
  }
}
