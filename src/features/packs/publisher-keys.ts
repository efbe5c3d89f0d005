import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { isSignedDocument, publicKeyFrom } from '../../platform/signatures/signed-document.js';

/** Whose signatures count here, and with which keys: what one publisher signed is not another's. */
@Injectable()
export class PublisherKeys {
  readonly #keys: ReadonlyMap<string, readonly KeyObject[]>;

  constructor({ skillPackPublishers }: Config) {
    this.#keys = new Map(
      [...Map.groupBy(skillPackPublishers, ({ name }) => name)].map(([name, keys]) => [
        name,
        keys.map(({ publicKey }) => publicKeyFrom(publicKey)),
      ]),
    );
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  knows(publisher: string): boolean {
    return this.#keys.has(publisher);
  }

  hasSigned(publisher: string, document: unknown, signature: string): boolean {
    return isSignedDocument(document, signature, this.#keys.get(publisher) ?? []);
  }
}
