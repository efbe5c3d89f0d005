import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { CapoRole } from '../terms/index.js';
import type { SkillBrief } from './briefing.js';

/** So much of skills is read by a capo altogether, in bytes of JSON; each alone is smaller. */
const MAX_SKILL_BYTES = 32 * 1024;

/** A skill as its pack has it. */
interface SkillOfPack {
  capo: CapoRole;
  packName: string;
  definition: Omit<SkillBrief, 'pack'>;
}

type Read = (scope: Scope, capos: readonly CapoRole[]) => Promise<readonly SkillOfPack[]>;

/** The skills that a capo has from the workspace's skill packs. They belong to a higher feature, which registers. */
@Injectable()
export class CapoSkills {
  #read: Read | undefined;

  register(read: Read): void {
    this.#read = read;
  }

  /** By capo, as many of them, in their order, as there is room for: one that has none left is left out whole. */
  async of(scope: Scope, capos: readonly CapoRole[]): Promise<Map<CapoRole, SkillBrief[]>> {
    if (!this.#read) throw new Error('no skill packs have registered');
    const found = capos.length === 0 ? [] : await this.#read(scope, capos);
    return new Map(
      [...Map.groupBy(found, ({ capo }) => capo)].map(([capo, skills]) => {
        let room = MAX_SKILL_BYTES;
        const fitting = skills.map(briefOf).filter((skill) => {
          const bytes = Buffer.byteLength(JSON.stringify(skill));
          if (bytes > room) return false;
          room -= bytes;
          return true;
        });
        return [capo, fitting] as const;
      }),
    );
  }
}

function briefOf({ packName, definition }: SkillOfPack): SkillBrief {
  const { name, description, instructions, inputs, outputs } = definition;
  return {
    pack: packName,
    name,
    ...(description !== undefined && { description }),
    ...(instructions !== undefined && { instructions }),
    inputs,
    outputs,
  };
}
