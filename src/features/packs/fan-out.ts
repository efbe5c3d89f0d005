import { Injectable, type OnModuleInit } from '@nestjs/common';
import { withComputed } from '../../platform/database/beforehand.js';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { AddSkill } from './add-skill.js';
import { DeliverOrder } from './deliver-order.js';
import { EndInstall } from './end-install.js';
import { INSTALL_WORK } from './pack-work.js';
import type { SkillPackEntity } from './skill-pack.entity.js';
import { SkillPacks } from './skill-packs.repository.js';

/**
 * Lets the skills and orders of an accepted pack arrive, each in a transaction of its own: whatever ends this in the middle,
 * the next attempt goes on with the first part that has not arrived. With the last one the pack is installed.
 */
@Injectable()
export class FanOut implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly packs: SkillPacks,
    private readonly addSkill: AddSkill,
    private readonly deliverOrder: DeliverOrder,
    private readonly endInstall: EndInstall,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: INSTALL_WORK,
      pool: 4,
      perQueue: 1,
      perQueueEverywhere: 1,
      tries: 5,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.endInstall.failed(item.id, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const scope = scopeOfWork(item);
    for (let goesOn = true; goesOn;) {
      goesOn = await withComputed(() => this.db.transaction(scope, () => this.step(item, signal.aborted)));
    }
  }

  /** Answers whether there is more to do. */
  private async step(item: WorkItem, isAborted: boolean): Promise<boolean> {
    const pack = await this.packs.lock(item.id);
    if (pack?.status !== 'installing') {
      this.work.complete(item);
      return false;
    }
    this.work.check(item);
    if (isAborted) {
      this.work.reschedule(item, 0);
      return false;
    }
    const { skill, order } = await this.packs.nextParts(pack);
    if (skill) this.addSkill.execute(pack, skill);
    else if (order) await this.deliverOrder.execute(pack, order);
    else this.complete(item, pack);
    return skill !== undefined || order !== undefined;
  }

  private complete(item: WorkItem, pack: SkillPackEntity): void {
    this.endInstall.installed(pack);
    this.work.complete(item);
  }
}
