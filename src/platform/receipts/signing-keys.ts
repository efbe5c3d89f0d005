import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Db } from '../database/db.js';
import { Clock } from '../kernel/clock.js';
import { SecretBox } from '../secrets/secret-box.js';
import { examineKeys, type KeyChain, keyIdOf, type KeyRecord, keyText } from './key-chain.js';

/** How long a key signs before the next one takes over. */
const RENEW_AFTER_MS = 365 * 24 * 60 * 60 * 1000;

interface SigningKey {
  keyId: string;
  createdAt: number;
  key: KeyObject;
}

interface KeyRow extends KeyRecord {
  sealedPrivateKey: string;
}

/**
 * The Ed25519 keys that sign checkpoints of the receipt chains. The first is made at the first start; after a year it
 * signs the next one. A key is used, and its signatures count, only while {@link examineKeys} trusts it.
 */
@Injectable()
export class SigningKeys implements OnApplicationBootstrap {
  #current: Promise<SigningKey> | undefined;
  /** The first key, once seen: it stays for as long as the database does. */
  #first: string | undefined;

  constructor(
    private readonly db: Db,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** The start compares SECRETS_KEY with it (assertSecretsKey), so it must be there from the first start on. */
  async onApplicationBootstrap(): Promise<void> {
    const rows = await this.rows();
    if (rows.length === 0) await this.add();
    this.#first ??= (await this.examine()).trusted[0]?.keyId;
  }

  /** Signs with the newest trusted key. */
  async sign(text: string): Promise<{ keyId: string; signature: string }> {
    const { keyId, key } = await this.current();
    return { keyId, signature: signed(text, key) };
  }

  /** The keys that may vouch for checkpoints, and each that may not with the reason. */
  async examine(): Promise<KeyChain> {
    return this.examined(await this.rows());
  }

  private examined(rows: readonly KeyRow[]): KeyChain {
    const rowOf = new Map(rows.map((row) => [row.keyId, row]));
    const chain = examineKeys(rows, (keyId) => this.openedPublicKey(rowOf.get(keyId)!));
    if (this.#first !== undefined && !rowOf.has(this.#first)) {
      const message = `The signing key ${this.#first} is missing from the database; it was there when this process started.`;
      chain.faults.push({ keyId: this.#first, message });
    }
    return chain;
  }

  private async current(): Promise<SigningKey> {
    const known = await this.#current?.catch(() => undefined);
    if (known && !this.isOld(known)) return known;
    this.#current = this.load();
    return this.#current;
  }

  private async load(): Promise<SigningKey> {
    let newest = await this.newest();
    if (this.isOld(newest)) {
      await this.add(newest);
      newest = await this.newest();
    }
    return newest;
  }

  /** @throws when no key is trusted, or the first is another than this process has seen */
  private async newest(): Promise<SigningKey> {
    const rows = await this.rows();
    const { trusted, faults } = this.examined(rows);
    const newest = rows.find(({ keyId }) => keyId === trusted.at(-1)?.keyId);
    if (!newest || (this.#first !== undefined && trusted[0]!.keyId !== this.#first)) {
      throw new Error(`No signing key can be trusted. ${faults.map(({ message }) => message).join(' ')}`);
    }
    return { keyId: newest.keyId, createdAt: newest.createdAt, key: this.open(newest) };
  }

  /** Adds the first key, or the one after `before`; does nothing when another process was faster. */
  private async add(before?: SigningKey): Promise<void> {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const keyId = keyIdOf(pem);
    const key = { keyId, publicKey: pem, createdAt: this.clock.now(), signedBy: before?.keyId ?? null };
    const sealed = this.secrets.seal(
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      purposeOf(keyId),
    );
    const signature = before ? signed(keyText(key), before.key) : null;
    await this.db.system('select app.add_signing_key($1, $2, $3, $4, $5, $6)', [
      keyId,
      pem,
      sealed,
      new Date(key.createdAt),
      key.signedBy,
      signature,
    ]);
  }

  private isOld({ createdAt }: SigningKey): boolean {
    return this.clock.now() - createdAt > RENEW_AFTER_MS;
  }

  private rows(): Promise<KeyRow[]> {
    return this.db.system<KeyRow>(
      `select key_id, public_key, created_at, signed_by, signature, sealed_private_key
       from signing_keys order by created_at, key_id`,
    );
  }

  private openedPublicKey(row: KeyRow): string | undefined {
    try {
      return createPublicKey(this.open(row)).export({ type: 'spki', format: 'pem' }).toString();
    } catch {
      return undefined;
    }
  }

  private open({ sealedPrivateKey, keyId }: KeyRow): KeyObject {
    return createPrivateKey(this.secrets.open(sealedPrivateKey, purposeOf(keyId)));
  }
}

/** What a private key is sealed for. */
export function purposeOf(keyId: string): string {
  return `signing-key ${keyId}`;
}

function signed(text: string, key: KeyObject): string {
  return sign(null, Buffer.from(text), key).toString('base64url');
}
