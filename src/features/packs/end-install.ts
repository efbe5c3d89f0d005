import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { WorkError } from '../../platform/work/work-item.js';
import { Events } from '../events/index.js';
import { Signals } from '../records/index.js';
import { packActor } from './pack-work.js';
import type { SkillPackEntity } from './skill-pack.entity.js';
import { SkillPacks } from './skill-packs.repository.js';

/** Says how the fan-out of a pack has ended, in the transaction of its last part or of giving it up. */
@Injectable()
export class EndInstall {
  constructor(
    private readonly packs: SkillPacks,
    private readonly events: Events,
    private readonly signals: Signals,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** The pack is locked, and all of it has arrived. */
  installed(pack: SkillPackEntity): void {
    const { packId, name, version, publisher, manifestHash } = pack;
    this.packs.update(pack, { status: 'installed', completedAt: this.clock.now() });
    this.receipts.append({
      actor: packActor(pack),
      action: 'skill_pack.installed',
      entity: { type: 'skill_pack', id: packId },
      summary: `The skill pack ${name} ${version} of ${publisher} is installed.`,
      details: { name, version, publisher, manifestHash },
    });
    this.events.record('pack.installed', { packId, version });
  }

  async failed(id: string, { message }: WorkError): Promise<void> {
    const pack = await this.packs.lock(id);
    if (pack?.status !== 'installing') return;
    const { packId, name, version } = pack;
    const by = packActor(pack);
    this.packs.update(pack, { status: 'failed', reason: message });
    const title = `The skill pack ${name} ${version} could not be installed completely.`;
    this.receipts.append({
      actor: by,
      action: 'skill_pack.failed',
      entity: { type: 'skill_pack', id: packId },
      outcome: 'failure',
      summary: title,
      details: { name, version, reason: message },
    });
    this.signals.raise({
      type: 'policy',
      severity: 'warning',
      title,
      body: `${message} What has arrived stays. Install the same version again to go on, or uninstall the pack.`,
      score: null,
      source: by,
      teamId: null,
      capo: null,
      entity: { type: 'skill_pack', id: packId },
    });
  }
}
