import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/config.js';
import { SecretBox, secretsKey, SecretUnreadable } from './secret-box.js';

const box = (key = randomBytes(32)) => new SecretBox(loadConfig({ SECRETS_KEY: key.toString('base64') }));

describe('a sealed secret', () => {
  const secrets = box();
  const sealed = secrets.seal('a secret', 'purpose 1');

  it('opens for its purpose, and is another text each time', () => {
    expect(secrets.open(sealed, 'purpose 1')).toBe('a secret');
    expect(secrets.seal('a secret', 'purpose 1')).not.toBe(sealed);
  });

  it.each([
    ['for another purpose', () => secrets.open(sealed, 'purpose 2')],
    ['under another key', () => box().open(sealed, 'purpose 1')],
    [
      'when a byte was changed',
      () =>
        secrets.open(
          sealed.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A')),
          'purpose 1',
        ),
    ],
    ['when it was cut', () => secrets.open(sealed.slice(0, 60), 'purpose 1')],
    ['when its tag was cut to four bytes', () => secrets.open(cutTag(sealed), 'purpose 1')],
    ['when it is no sealed secret', () => secrets.open('x', 'purpose 1')],
    ['when it is empty', () => secrets.open('', 'purpose 1')],
  ])('does not open %s, and the error says for good', (_case, open) => {
    expect(open).toThrow(SecretUnreadable);
    expect(open).toThrow(/cannot be decrypted: it was changed, or encrypted with another SECRETS_KEY/);
    expect(open).not.toThrow('a secret');
  });
});

function cutTag(sealed: string): string {
  const parts = sealed.split('.');
  const bytes = Buffer.from(parts[2]!, 'base64url');
  return [parts[0], parts[1], bytes.subarray(0, -12).toString('base64url')].join('.');
}

describe('without SECRETS_KEY, the key', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'consigliere-secrets-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('is made once, kept in DATA_DIR for its owner alone, and found again', async () => {
    const key = secretsKey(loadConfig({ DATA_DIR: dataDir }));
    expect(key).toHaveLength(32);
    expect(secretsKey(loadConfig({ DATA_DIR: dataDir }))).toEqual(key);
    expect(await readdir(dataDir)).toEqual(['secrets.key']);
    expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dataDir, 'secrets.key'), 'utf8')).toBe(key.toString('base64'));
  });

  it('is refused by name when the file holds none', async () => {
    await writeFile(join(dataDir, 'secrets.key'), '');
    expect(() => secretsKey(loadConfig({ DATA_DIR: dataDir }))).toThrow(
      /secrets\.key must contain 32 bytes in base64/,
    );
  });
});
