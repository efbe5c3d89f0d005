import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { SkillTarget } from './skill-rules.js';

type Find = (scope: Scope, name: string) => Promise<object | undefined>;

/** The skills of the workspace's packs, by name. They belong to a higher feature, which registers. */
@Injectable()
export class InstalledSkills {
  #find: Find | undefined;

  register(find: Find): void {
    this.#find = find;
  }

  async find(scope: Scope, name: string): Promise<SkillTarget | undefined> {
    if (!this.#find) throw new Error('no skill packs have registered');
    const skill = await this.#find(scope, name);
    return skill && { ...skill };
  }
}
