import { Injectable } from '@nestjs/common';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { isCapoRole } from '../capos/index.js';
import { RecordEval, skillSubject } from '../evals/index.js';
import { contentHash, type PackSkill } from './pack-manifest.js';
import { packActor } from './pack-work.js';
import type { SkillPackEntity, SkillPackSkillEntity } from './skill-pack.entity.js';
import { SkillPacks } from './skill-packs.repository.js';

/** As the name of a run that somebody asks for. */
const MAX_NAME = 120;

/** Gives a skill of a pack to its capo, with the eval run that it arrived with. */
@Injectable()
export class AddSkill {
  constructor(
    private readonly packs: SkillPacks,
    private readonly recordEval: RecordEval,
    private readonly receipts: Receipts,
  ) {}

  /** In the open transaction; the pack is locked. */
  execute(pack: SkillPackEntity, row: SkillPackSkillEntity): void {
    const { packId, version, manifest } = pack;
    const { name } = row;
    const definition = manifest.skills.find((skill) => skill['name'] === name)!;
    if (row.definition && contentHash(row.definition) === contentHash(definition)) {
      this.packs.saveSkill(row, { status: 'arrived', version });
      return;
    }
    const capo = isCapoRole(definition['capo']) ? definition['capo'] : null;
    const by = packActor(pack);
    const { evalRunId, score, passed } = this.recordEval.execute(
      skillSubject(name, definition, { teamId: null, capo }),
      { name: cutText(`Installation of ${pack.name}`, MAX_NAME), occasion: 'install', by },
    );
    // The pack was accepted by the rules of then; a later release may have more of them.
    const isRefused = !passed || capo === null;
    this.packs.saveSkill(row, {
      status: isRefused ? 'refused' : 'arrived',
      definition: isRefused ? null : (definition as unknown as PackSkill),
      capo: capo ?? row.capo,
      version,
      reason: isRefused ? 'It did not pass its eval.' : null,
      evalRunId,
      score,
    });
    this.receipts.append({
      actor: by,
      action: isRefused ? 'skill_pack.skill_refused' : 'skill_pack.skill_added',
      entity: { type: 'skill_pack', id: packId },
      capo,
      outcome: isRefused ? 'denied' : 'success',
      summary: isRefused
        ? `The skill ${name} of ${pack.name} was refused: it did not pass its eval.`
        : `The skill ${name} of ${pack.name} ${version} is given to its capo from now on.`,
      details: { skill: name, version, definition, evalRunId, score },
    });
  }
}
