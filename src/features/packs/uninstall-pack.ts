import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { RemovePack } from './remove-pack.js';
import { PRESENT } from './skill-pack.entity.js';
import { SkillPacks } from './skill-packs.repository.js';

/** Uninstalls a pack for an admin, who may do the same to each of its orders. */
@Injectable()
export class UninstallPack {
  constructor(
    private readonly db: Db,
    private readonly packs: SkillPacks,
    private readonly removePack: RemovePack,
  ) {}

  /** In the open transaction; of a pack that the workspace has no longer nothing changes. @throws NotFound */
  async execute(by: Actor, packId: string): Promise<void> {
    const pack = await this.packs.lock(packId);
    if (!pack) throw new NotFound();
    if (!PRESENT.includes(pack.status)) return;
    const { scope } = this.db.unit;
    await this.removePack.execute(pack, { status: 'uninstalled', by, reason: null, scope });
  }
}
