import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';

/** A skill pack that the workspace has. */
export interface InstalledPack {
  packId: string;
  name: string;
  publisher: string;
  version: string;
  status: string;
}

/** Which skill packs the workspace has. They belong to a higher feature, which registers. */
@Injectable()
export class InstalledPacks {
  #read: ((scope: Scope) => Promise<InstalledPack[]>) | undefined;

  register(read: (scope: Scope) => Promise<InstalledPack[]>): void {
    this.#read = read;
  }

  async read(scope: Scope): Promise<InstalledPack[]> {
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
