import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { isSignedDocument, publicKeyFrom } from '../../platform/signatures/signed-document.js';

/** A key as it is configured. */
export interface PublisherKey {
  publisher: string;
  publicKey: string;
}

/** Whose signatures count here, and with which keys: what one publisher signed is not another's. */
@Injectable()
export class PublisherKeys {
  readonly #keys: ReadonlyMap<string, readonly { publicKey: string; key: KeyObject }[]>;

  constructor({ skillPackPublishers }: Config) {
    this.#keys = new Map(
      [...Map.groupBy(skillPackPublishers, ({ name }) => name)].map(([name, keys]) => [
        name,
        keys.map(({ publicKey }) => ({ publicKey, key: publicKeyFrom(publicKey) })),
      ]),
    );
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /** All that are configured. */
  get all(): PublisherKey[] {
    return [...this.#keys].flatMap(([publisher, keys]) =>
      keys.map(({ publicKey }) => ({ publisher, publicKey })),
    );
  }

  knows(publisher: string): boolean {
    return this.#keys.has(publisher);
  }

  hasSigned(publisher: string, document: unknown, signature: string): boolean {
    return this.signerOf(publisher, document, signature) !== undefined;
  }

  /** The public key of the publisher that the signature is of; undefined when it is of none. */
  signerOf(publisher: string, document: unknown, signature: string): string | undefined {
    return this.#keys.get(publisher)?.find(({ key }) => isSignedDocument(document, signature, [key]))
      ?.publicKey;
  }
}
