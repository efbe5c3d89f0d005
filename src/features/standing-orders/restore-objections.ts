import { Injectable } from '@nestjs/common';

/** Of these orders, those that must not be put back in force, each with the reason as a sentence. */
type Objections = (standingOrderIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** What speaks against putting orders back in force; higher features register, and read in the open transaction. */
@Injectable()
export class RestoreObjections {
  readonly #objections: Objections[] = [];

  register(objections: Objections): void {
    this.#objections.push(objections);
  }

  async of(standingOrderIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const all = new Map<string, string>();
    for (const objections of this.#objections) {
      for (const [id, reason] of await objections(standingOrderIds)) all.set(id, reason);
    }
    return all;
  }
}
