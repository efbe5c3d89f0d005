import { Injectable } from '@nestjs/common';

/** Called in the transaction that put the secret in force; what it writes commits with it or not at all. */
type PartnerSecretListener = () => void | Promise<void>;

/** Who is told when a workspace gets its partner secret, or another one: features above register here. */
@Injectable()
export class PartnerSecretChanges {
  readonly #listeners: PartnerSecretListener[] = [];

  register(listener: PartnerSecretListener): void {
    this.#listeners.push(listener);
  }

  async tell(): Promise<void> {
    for (const listener of this.#listeners) await listener();
  }
}
