import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';

/**
 * Envelope encryption for what must be read again (signing keys, shared secrets): each secret under a key of its own,
 * that key under SECRETS_KEY. The purpose is authenticated too, so a sealed text cannot be moved to another place.
 */
@Injectable()
export class SecretBox {
  readonly #key: Buffer;

  constructor(config: Config) {
    this.#key = secretsKey(config);
  }

  /** Encrypts `secret` for one purpose, e.g. `signing-key <id>`. */
  seal(secret: string, purpose: string): string {
    const key = randomBytes(32);
    return [VERSION, encrypt(this.#key, key, purpose), encrypt(key, Buffer.from(secret), purpose)].join('.');
  }

  /** @throws when the text was changed, is for another purpose, or was sealed under another key */
  open(sealed: string, purpose: string): string {
    const [version, wrapped, text] = sealed.split('.');
    if (version !== VERSION || !wrapped || !text) throw new Error('this is not a sealed secret');
    return decrypt(decrypt(this.#key, wrapped, purpose), text, purpose).toString();
  }
}

/** The 32 bytes of SECRETS_KEY, or those made once and kept in DATA_DIR. */
export function secretsKey(config: Config): Buffer {
  return config.secretsKey ? Buffer.from(config.secretsKey, 'base64') : keyOfDataDir(config.dataDir);
}

function encrypt(key: Buffer, plain: Buffer, purpose: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  );
}

function decrypt(key: Buffer, text: string, purpose: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, 12)).setAAD(Buffer.from(purpose));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
}

/** Made once, readable by its owner only; `wx` lets one of two processes that start together win. */
function keyOfDataDir(dataDir: string): Buffer {
  const file = join(dataDir, 'secrets.key');
  mkdirSync(dataDir, { recursive: true });
  try {
    writeFileSync(file, randomBytes(32).toString('base64'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return Buffer.from(readFileSync(file, 'utf8'), 'base64');
}
