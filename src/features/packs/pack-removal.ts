import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { Events } from '../events/index.js';
import { Signals } from '../records/index.js';
import { type ArchivedOrders, ArchiveOrders } from '../standing-orders/index.js';
import { INSTALL_WORK, REVOKE_WORK } from './fan-out.js';
import { Revocations } from './revocations.js';
import { PRESENT, type SkillPackEntity } from './skill-pack.entity.js';
import { SkillPacks } from './skill-packs.repository.js';

/** How a pack ends. */
interface Removal {
  status: 'uninstalled' | 'revoked';
  by: Actor;
  reason: string | null;
  scope: Scope;
}

/** Takes a pack back: an admin uninstalls it, or its publisher revokes it. */
@Injectable()
export class PackRemoval implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly packs: SkillPacks,
    private readonly archiveOrders: ArchiveOrders,
    private readonly revocations: Revocations,
    private readonly work: Work,
    private readonly events: Events,
    private readonly signals: Signals,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: REVOKE_WORK,
      pool: 4,
      perQueue: 1,
      tries: 5,
      run: (item) => this.revoke(item),
      // The next look enqueues it again: a revocation is never given up.
      giveUp: async () => undefined,
    });
  }

  /**
   * Uninstalls a pack for an admin, who may do the same to each of its orders.
   * In the open transaction; of a pack that the workspace has no longer nothing changes. @throws NotFound
   */
  async uninstall(by: Actor, packId: string): Promise<void> {
    const pack = await this.packs.lock(packId);
    if (!pack) throw new NotFound();
    if (!PRESENT.includes(pack.status)) return;
    const { scope } = this.db.unit;
    await this.remove(pack, { status: 'uninstalled', by, reason: null, scope });
  }

  /** Looks up what to revoke when the work is done, not when it is enqueued. */
  private async revoke(item: WorkItem): Promise<void> {
    const scope = scopeOfWork(item);
    await this.db.transaction(scope, async () => {
      const pack = await this.packs.lock(item.id);
      const reason = pack && (await this.revocations.reasonFor(scope, pack));
      if (pack && reason !== undefined && PRESENT.includes(pack.status)) {
        const by = publisherOf(pack);
        this.tell(pack, reason, await this.remove(pack, { status: 'revoked', by, reason, scope }));
      }
      this.work.complete(item);
    });
  }

  /**
   * Ends a pack in one transaction: its orders are archived, its skills reach no further draft, and its fan-out stops.
   * The pack is locked, and the workspace has it.
   */
  private async remove(
    pack: SkillPackEntity,
    { status, by, reason, scope }: Removal,
  ): Promise<ArchivedOrders> {
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

  private tell(pack: SkillPackEntity, reason: string, { archived, kept }: ArchivedOrders): void {
    const { packId, name, version, publisher } = pack;
    this.signals.raise({
      type: 'policy',
      severity: 'warning',
      title: `${publisher} has revoked the skill pack ${name} ${version}.`,
      body: `${reason} Its skills reach no further draft. Standing orders archived: ${archived.length}. In force still, since they restrain: ${kept.length}; archive them by hand if they are not wanted.`,
      source: publisherOf(pack),
      teamId: null,
      entity: { type: 'skill_pack', id: packId },
    });
  }
}

/** Nobody of the workspace. */
function publisherOf({ publisher }: SkillPackEntity): Actor {
  return { type: 'system', id: publisher, name: `The publisher ${publisher}`, via: 'policy' };
}
