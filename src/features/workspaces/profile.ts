import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { InstalledPackView } from './profile.dto.js';

/** How much the workspace lets pass by itself. The guardian knows, and stands above this feature, so it registers. */
@Injectable()
export class AutonomyMode {
  #read: ((scope: Scope) => Promise<string>) | undefined;

  register(read: (scope: Scope) => Promise<string>): void {
    this.#read = read;
  }

  read(scope: Scope): Promise<string> {
    if (!this.#read) throw new Error('no guardian has registered');
    return this.#read(scope);
  }
}

/** Which skill packs the workspace has. They belong to a higher feature, which registers. */
@Injectable()
export class InstalledPacks {
  #read: ((scope: Scope) => Promise<InstalledPackView[]>) | undefined;

  register(read: (scope: Scope) => Promise<InstalledPackView[]>): void {
    this.#read = read;
  }

  async read(scope: Scope): Promise<InstalledPackView[]> {
    if (!this.#read) throw new Error('no skill packs have registered');
    const packs = await this.#read(scope);
    return packs.map(({ packId, name, publisher, version, status }) => ({
      packId,
      name,
      publisher,
      version,
      status,
    }));
  }
}
