/**
 * Makes the key pair of a publisher of skill packs, signs packs and lists of revocations with it, and checks packs
 * (docs/guides/skill-packs.md). It needs neither the service nor its database; the private key belongs on a machine of the
 * publisher's own.
 *
 * Built with the service, run from the project's folder:
 * npm run skill-pack -- keys --publisher <name> [--key <file>]
 * npm run skill-pack -- sign <manifest.json> --key <file> [--publisher <name>] [--out <file>]
 * npm run skill-pack -- check <pack.json> [--publishers <name=key,...>]
 * npm run skill-pack -- revoke <list.json> --key <file> [--out <file>]
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { contentHash, type PackManifest, SLUG } from '../src/features/packs/pack-manifest.js';
import { listFaults } from '../src/features/packs/revocation-list.js';
import { loadConfig } from '../src/platform/config/config.js';
import type { Fault } from '../src/platform/kernel/define-error.js';
import {
  isSignedDocument,
  publicKeyFrom,
  rawPublicKey,
  signDocument,
} from '../src/platform/signatures/signed-document.js';

const USAGE = `Use one of:
  npm run skill-pack -- keys --publisher <name> [--key <file>]
  npm run skill-pack -- sign <manifest.json> --key <file> [--publisher <name>] [--out <file>]
  npm run skill-pack -- check <pack.json> [--publishers <name=key,...>]
  npm run skill-pack -- revoke <list.json> --key <file> [--out <file>]`;

const COMMANDS = ['keys', 'sign', 'check', 'revoke'] as const;
const MAX_FILE_BYTES = 1024 * 1024;

class Refused extends Error {}

try {
  await main();
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { command, file, options } = read();
  switch (command) {
    case 'keys':
      return makeKeys(options.publisher ?? '', options.key);
    case 'sign':
      return sign(file, options);
    case 'check':
      return check(file, options.publishers);
    case 'revoke':
      return revoke(file, options);
  }
}

function read() {
  try {
    const { positionals, values: options } = parseArgs({
      allowPositionals: true,
      options: {
        /** The file of the private key. */
        key: { type: 'string', default: 'pack-publisher.pem' },
        /** Whose key it is; with `sign`, whose the pack becomes. */
        publisher: { type: 'string' },
        /** As SKILL_PACK_PUBLISHERS has them. */
        publishers: { type: 'string' },
        /** Left out, the signed document is printed. */
        out: { type: 'string' },
      },
    });
    const [name, file = ''] = positionals;
    const command = COMMANDS.find((one) => one === name);
    if (!command || positionals.length !== (command === 'keys' ? 1 : 2)) throw new Error('no command');
    return { command, file, options };
  } catch (cause) {
    throw new Refused(USAGE, { cause });
  }
}

/** The private key is in the file alone: neither a terminal nor its history shows it. */
async function makeKeys(publisher: string, file: string): Promise<void> {
  if (!SLUG.test(publisher)) {
    throw new Refused(
      '--publisher must be 1 to 64 lower-case letters, digits and single hyphens, such as acme',
    );
  }
  const { privateKey: key } = generateKeyPairSync('ed25519');
  try {
    await writeFile(file, key.export({ type: 'pkcs8', format: 'pem' }), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw new Refused(`${file} cannot be written.`);
    throw new Refused(`${file} exists already. Packs are signed with it, so it is not replaced.`);
  }
  console.log(`The private key is in ${file}: keep it secret, and keep a copy.`);
  console.log(
    'To allow your packs, an operator sets this for the service (separate publishers with commas):',
  );
  console.log(`SKILL_PACK_PUBLISHERS=${publisher}=${rawPublicKey(key)}`);
}

/**
 * Of a signed pack its manifest is signed again. A key does not know whose it is, so what is printed names the publisher with
 * the key: a pack that still names somebody else would be refused wherever it is installed.
 */
async function sign(file: string, options: { key: string; publisher?: string; out?: string }): Promise<void> {
  const content = await jsonIn(file);
  const given = isRecord(content) && isRecord(content['manifest']) ? content['manifest'] : content;
  const isRenamed = options.publisher !== undefined && isRecord(given);
  const raw = isRenamed ? { ...given, publisher: options.publisher } : given;
  const { name, version, publisher } = await checked(raw);
  const key = await privateKey(options.key);
  await hand({ manifest: raw, signature: signDocument(raw, key) }, options.out);
  if (options.out === undefined) return;
  console.log(`Signed ${name} ${version} of ${publisher}. It can be installed where this is set:`);
  console.log(`SKILL_PACK_PUBLISHERS=${publisher}=${rawPublicKey(key)}`);
  if (options.publisher === undefined)
    console.log(`If this is not a key of ${publisher}, sign again with --publisher <your name>.`);
}

async function check(file: string, publishers: string | undefined): Promise<void> {
  const pack = await jsonIn(file);
  if (!isRecord(pack) || typeof pack['signature'] !== 'string') {
    throw new Refused(`${file} is no signed pack: { "manifest": ..., "signature": ... }`);
  }
  const raw = pack['manifest'];
  const { name, version, publisher, skills, standingOrders } = await checked(raw);
  if (publishers === undefined) {
    console.log('The signature was not checked: name the keys with --publishers.');
  } else if (!isSigned(raw, pack['signature'], publisher, publishers)) {
    throw new Refused(
      `The signature of ${file} does not match, or ${publisher} is not among the publishers.`,
    );
  }
  console.log(
    `${name} ${version} of ${publisher}: ${skills.length} skills, ${standingOrders.length} standing orders, SHA-256 ${contentHash(raw)}`,
  );
}

function isSigned(raw: unknown, signature: string, publisher: string, publishers: string): boolean {
  const { skillPackPublishers } = loadConfig({ SKILL_PACK_PUBLISHERS: publishers });
  const keys = skillPackPublishers.filter(({ name }) => name === publisher);
  return isSignedDocument(
    raw,
    signature,
    keys.map(({ publicKey }) => publicKeyFrom(publicKey)),
  );
}

async function revoke(file: string, { key, out }: { key: string; out?: string }): Promise<void> {
  const content = await jsonIn(file);
  const list = isRecord(content) && isRecord(content['list']) ? content['list'] : content;
  const faults = listFaults(list);
  if (faults.length > 0) throw new Refused(`Nothing was signed:\n${linesOf(faults)}`);
  await hand({ list, signature: signDocument(list, await privateKey(key)) }, out);
}

/** What it takes to look at orders takes seconds to load, so it is loaded when it is needed. */
async function checked(raw: unknown): Promise<PackManifest> {
  const { checkedManifest } = await import('./checked-manifest.js');
  const { manifest, faults } = await checkedManifest(raw);
  if (!manifest || faults.length > 0) {
    throw new Refused(`The manifest cannot be installed:\n${linesOf(faults)}`);
  }
  return manifest;
}

function linesOf(faults: readonly Fault[]): string {
  return faults.map(({ path, message }) => `  ${path}: ${message}`).join('\n');
}

async function hand(document: object, out: string | undefined): Promise<void> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (out === undefined) return console.log(text.trimEnd());
  await writeFile(out, text);
}

async function jsonIn(file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    throw new Refused(`${file} cannot be read.`);
  }
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw new Refused(`${file} is larger than 1 MB.`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused(`${file} is not JSON.`);
  }
}

async function privateKey(file: string): Promise<KeyObject> {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch {
    throw new Refused(`${file} cannot be read. To make a key: npm run skill-pack -- keys --publisher <name>`);
  }
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The sentence below is all that there is to say.
  }
  throw new Refused(`${file} contains no Ed25519 private key.`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
