import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { sha256 } from '../kernel/canonical-json.js';
import { SecretBox } from '../secrets/secret-box.js';

/** A public key as published by `GET /audit-feed/keys`. */
export interface PublicKey {
  keyId: string;
  algorithm: 'Ed25519';
  /** SPKI in PEM. */
  publicKey: string;
  /** Unix milliseconds. */
  createdAt: number;
}

interface SigningKey {
  keyId: string;
  key: KeyObject;
}

/** The Ed25519 key that signs checkpoints of the receipt chains; made when the first checkpoint needs it. */
@Injectable()
export class SigningKeys {
  #current: Promise<SigningKey> | undefined;

  constructor(
    private readonly db: Db,
    private readonly secrets: SecretBox,
  ) {}

  /** Signs with the newest key. */
  async sign(text: string): Promise<{ keyId: string; signature: string }> {
    this.#current ??= this.load().catch((error: unknown) => {
      this.#current = undefined;
      throw error;
    });
    const { keyId, key } = await this.#current;
    return { keyId, signature: sign(null, Buffer.from(text), key).toString('base64url') };
  }

  /** Every key that ever signed, oldest first. */
  async list(): Promise<PublicKey[]> {
    const rows = await this.db.system<{ keyId: string; publicKey: string; createdAt: number }>(
      'select key_id, public_key, created_at from signing_keys order by created_at',
    );
    return rows.map((row) => ({ ...row, algorithm: 'Ed25519' }));
  }

  private async load(): Promise<SigningKey> {
    const newest =
      'select key_id, sealed_private_key from signing_keys order by created_at desc, key_id limit 1';
    let [row] = await this.db.system<{ keyId: string; sealedPrivateKey: string }>(newest);
    if (!row) {
      const { privateKey } = generateKeyPairSync('ed25519');
      const publicPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
      const keyId = sha256(publicPem).slice(0, 16);
      const sealed = this.secrets.seal(
        privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        purpose(keyId),
      );
      await this.db.system(
        'insert into signing_keys (key_id, public_key, sealed_private_key) values ($1, $2, $3)',
        [keyId, publicPem, sealed],
      );
      [row] = await this.db.system(newest);
    }
    return {
      keyId: row!.keyId,
      key: createPrivateKey(this.secrets.open(row!.sealedPrivateKey, purpose(row!.keyId))),
    };
  }
}

const purpose = (keyId: string) => `signing-key ${keyId}`;
