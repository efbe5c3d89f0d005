import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CapoSkills, CaposModule } from '../capos/index.js';
import { EvalsModule, InstalledSkills } from '../evals/index.js';
import { EventsModule } from '../events/index.js';
import { GuardianModule } from '../guardian/index.js';
import { RecordsModule } from '../records/index.js';
import { RestoreObjections, StandingOrdersModule } from '../standing-orders/index.js';
import { InstalledPacks, WorkspacesModule } from '../workspaces/index.js';
import { CheckManifest } from './check-manifest.js';
import { DeliverOrder, FanOut } from './fan-out.js';
import { PackRemoval } from './pack-removal.js';
import { PublisherKeys } from './publisher-keys.js';
import { RevocationLists } from './revocation-lists.repository.js';
import { Revocations } from './revocations.js';
import { SkillPackEntity, SkillPackOrderEntity, SkillPackSkillEntity } from './skill-pack.entity.js';
import { SkillPacksController } from './skill-packs.controller.js';
import { SkillPacks } from './skill-packs.repository.js';
import { SkillPacksService } from './skill-packs.service.js';

/** @level 9 */
@Module({
  imports: [
    TypeOrmModule.forFeature([SkillPackEntity, SkillPackSkillEntity, SkillPackOrderEntity]),
    CaposModule,
    EvalsModule,
    EventsModule,
    GuardianModule,
    RecordsModule,
    StandingOrdersModule,
    WorkspacesModule,
  ],
  controllers: [SkillPacksController],
  providers: [
    SkillPacks,
    PublisherKeys,
    RevocationLists,
    Revocations,
    CheckManifest,
    SkillPacksService,
    DeliverOrder,
    FanOut,
    PackRemoval,
  ],
})
export class PacksModule {
  /** Features below this one read the installed packs. */
  constructor(
    packs: SkillPacks,
    installedPacks: InstalledPacks,
    capoSkills: CapoSkills,
    installedSkills: InstalledSkills,
    restoreObjections: RestoreObjections,
  ) {
    installedPacks.register((scope) => packs.present(scope));
    capoSkills.register((scope, capos) => packs.skillsOfCapos(scope, capos));
    installedSkills.register((scope, name) => packs.findSkill(scope, name));
    restoreObjections.register(async (ids) => {
      const gone = await packs.ordersOfRemoved(ids);
      return new Map(gone.map((id) => [id, 'The skill pack that it came with was removed since.']));
    });
  }
}
