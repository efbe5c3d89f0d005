import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { StartRefused } from '../kernel/start-refused.js';
import { hmacSha256 } from '../signatures/hmac.js';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A sealed secret that does not open: it was changed, is for another purpose, or was sealed under another SECRETS_KEY.
 * No later try can end otherwise, so callers fail at once instead of retrying.
 */
export class SecretUnreadable extends Error {
  constructor(
    readonly purpose: string,
    cause?: unknown,
  ) {
    super(
      `The secret for "${purpose}" cannot be decrypted: it was changed, or encrypted with another SECRETS_KEY.`,
      {
        cause,
      },
    );
    this.name = 'SecretUnreadable';
  }
}

/**
 * Envelope encryption for what must be read again (signing keys, shared secrets): each secret under a key of its own,
 * that key under SECRETS_KEY. The purpose is authenticated too, so a sealed text is of no use in another row.
 */
@Injectable()
export class SecretBox {
  readonly #key: Buffer;

  constructor(config: Config) {
    this.#key = secretsKey(config);
  }

  /** Encrypts `secret` for one purpose, e.g. `signing-key <id>`. */
  seal(secret: string, purpose: string): string {
    const key = randomBytes(KEY_BYTES);
    return [VERSION, encrypt(this.#key, key, purpose), encrypt(key, Buffer.from(secret), purpose)].join('.');
  }

  /** A code over `text` that only this service can make; one of another purpose never fits. */
  code(text: string, purpose: string): Buffer {
    return hmacSha256(hmacSha256(this.#key, `code for ${purpose}`), text);
  }

  /** @throws SecretUnreadable */
  open(sealed: string, purpose: string): string {
    const [version, wrapped, text] = sealed.split('.');
    if (version !== VERSION || !wrapped || !text) throw new SecretUnreadable(purpose);
    try {
      return decrypt(decrypt(this.#key, wrapped, purpose), text, purpose).toString();
    } catch (cause) {
      throw new SecretUnreadable(purpose, cause);
    }
  }
}

/** The 32 bytes of SECRETS_KEY, or those made once and kept in DATA_DIR. */
export function secretsKey(config: Config): Buffer {
  return config.secretsKey ? Buffer.from(config.secretsKey, 'base64') : keyOfDataDir(config.dataDir);
}

function encrypt(key: Buffer, plain: Buffer, purpose: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  );
}

function decrypt(key: Buffer, text: string, purpose: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  // With the length pinned: node takes a tag of four bytes as well, which can be guessed.
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/**
 * Made once, readable by its owner only. It is written aside and linked into place: a link never replaces a file, so one
 * of two processes that start together wins, and neither finds half a key.
 */
function keyOfDataDir(dataDir: string): Buffer {
  const file = join(dataDir, 'secrets.key');
  mkdirSync(dataDir, { recursive: true });
  if (!existsSync(file)) {
    const aside = `${file}.${randomUUID()}`;
    writeFileSync(aside, randomBytes(KEY_BYTES).toString('base64'), { flag: 'wx', mode: 0o600, flush: true });
    try {
      linkSync(aside, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(aside, { force: true });
    }
  }
  const key = Buffer.from(readFileSync(file, 'utf8'), 'base64');
  if (key.length !== KEY_BYTES)
    throw new StartRefused(
      `${file} must contain ${KEY_BYTES} bytes in base64. Restore it from a backup, or set SECRETS_KEY.`,
    );
  return key;
}
