import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import type { ArchivedOrders } from '../standing-orders/index.js';
import { Signals } from '../records/index.js';
import { REVOKE_WORK } from './pack-work.js';
import { RemovePack } from './remove-pack.js';
import { Revocations } from './revocations.js';
import { PRESENT, type SkillPackEntity } from './skill-pack.entity.js';
import { SkillPacks } from './skill-packs.repository.js';

/** Takes back a pack that its publisher revokes. What is revoked is looked up again when the work is done. */
@Injectable()
export class RevokePack implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly revocations: Revocations,
    private readonly packs: SkillPacks,
    private readonly removePack: RemovePack,
    private readonly signals: Signals,
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

  private async revoke(item: WorkItem): Promise<void> {
    const scope = scopeOfWork(item);
    await this.db.transaction(scope, async () => {
      const pack = await this.packs.lock(item.id);
      const reason = pack && (await this.revocations.reasonFor(scope, pack));
      if (pack && reason !== undefined && PRESENT.includes(pack.status)) {
        const by = publisherOf(pack);
        this.tell(
          pack,
          reason,
          await this.removePack.execute(pack, { status: 'revoked', by, reason, scope }),
        );
      }
      this.work.complete(item);
    });
  }

  private tell(pack: SkillPackEntity, reason: string, { archived, kept }: ArchivedOrders): void {
    const { packId, name, version, publisher } = pack;
    this.signals.raise({
      type: 'policy',
      severity: 'warning',
      title: `${publisher} has revoked the skill pack ${name} ${version}.`,
      body: `${reason} Its skills reach no further draft. Standing orders archived: ${archived.length}. In force still, since they restrain: ${kept.length}; archive them by hand if they are not wanted.`,
      score: null,
      source: publisherOf(pack),
      teamId: null,
      capo: null,
      entity: { type: 'skill_pack', id: packId },
    });
  }
}

/** Nobody of the workspace. */
function publisherOf({ publisher }: SkillPackEntity): Actor {
  return { type: 'system', id: publisher, name: `The publisher ${publisher}`, via: 'policy' };
}
