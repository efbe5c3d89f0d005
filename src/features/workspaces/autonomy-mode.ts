import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';

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
