/**
 * Makes the key pair of an issuer of licences, and issues licences with it (docs/guides/licences.md). It needs neither the
 * service nor its database, and belongs on a machine of the issuer's own.
 *
 * Built with the service, run from the project's folder:
 * npm run licence -- keys [--key <file>]
 * npm run licence -- issue --tier <tier> --workspace <id> --expires <YYYY-MM-DD> [--entitlements <a,b>] [--number <n>] [--key <file>]
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { publicKeyOf, licenceSchema, signLicence } from '../src/features/subscription/licence.js';
import { newId } from '../src/platform/kernel/ids.js';

const USAGE = `Use one of:
  npm run licence -- keys [--key <file>]
  npm run licence -- issue --tier <free|pro|enterprise> --workspace <wks_...> --expires <YYYY-MM-DD>
    [--entitlements <a,b>] [--number <n>] [--key <file>]`;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Where what is wrong with a licence was given. */
const OPTION_OF: Record<string, string> = {
  workspaceId: '--workspace',
  tier: '--tier',
  expiresAt: '--expires',
  entitlements: '--entitlements',
  number: '--number',
};

class Refused extends Error {}

try {
  await main();
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { command, options } = read();
  if (command === 'keys') return makeKeys(options.key);
  console.log(signLicence(licenceOf(options), await privateKey(options.key)));
}

function read() {
  try {
    const { positionals, values: options } = parseArgs({
      allowPositionals: true,
      options: {
        /** The file of the private key. */
        key: { type: 'string', default: 'licence-issuer.pem' },
        tier: { type: 'string' },
        workspace: { type: 'string' },
        /** The last day, in UTC. */
        expires: { type: 'string' },
        entitlements: { type: 'string', default: '' },
        /** Left out, it is the time of issue, so that what is issued later holds. */
        number: { type: 'string' },
      },
    });
    const [command] = positionals;
    if (positionals.length !== 1 || (command !== 'keys' && command !== 'issue'))
      throw new Error('no command');
    return { command, options };
  } catch (cause) {
    throw new Refused(USAGE, { cause });
  }
}

/** The private key is in the file alone: neither a terminal nor its history shows it. */
async function makeKeys(file: string): Promise<void> {
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const pem = key.export({ type: 'pkcs8', format: 'pem' });
  try {
    await writeFile(file, pem, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw new Refused(`${file} cannot be written.`);
    throw new Refused(`${file} exists already. Licences are issued with it, so it is not replaced.`);
  }
  console.log(`The private key is in ${file}: keep it secret, and keep a copy.`);
  console.log('Set this where the service runs; keep earlier keys beside it, with commas between:');
  console.log(`LICENCE_PUBLIC_KEY=${publicKeyOf(key)}`);
}

type Options = ReturnType<typeof read>['options'];

function licenceOf({ tier, workspace, expires, entitlements, number }: Options) {
  const issuedAt = Date.now();
  const names = entitlements.split(',').map((name) => name.trim());
  const parsed = licenceSchema.safeParse({
    licenceId: newId('lic'),
    number: number === undefined ? issuedAt : Number(number),
    workspaceId: workspace,
    tier,
    entitlements: [...new Set(names.filter(Boolean))].toSorted(),
    issuedAt,
    expiresAt: endOf(expires),
  });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `  ${OPTION_OF[String(path[0])]} ${message}`);
  throw new Refused(`No licence was issued:\n${faults.join('\n')}`);
}

/** The end of a day in UTC, so that the licence holds on it. */
function endOf(day = ''): number {
  const begin = new Date(`${day}T00:00:00Z`);
  const exists = !Number.isNaN(begin.getTime()) && begin.toISOString().slice(0, 10) === day;
  if (!exists) throw new Refused('No licence was issued:\n  --expires must be a day such as 2027-11-30');
  return begin.getTime() + DAY_MS;
}

async function privateKey(file: string): Promise<KeyObject> {
  let pem: string;
  try {
    pem = await readFile(file, 'utf8');
  } catch {
    throw new Refused(`${file} cannot be read. To make a key: npm run licence -- keys`);
  }
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The sentence below is all that there is to say.
  }
  throw new Refused(`${file} contains no Ed25519 private key.`);
}
