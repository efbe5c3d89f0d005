import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, open, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { announceWait } from '../kernel/announce-wait.js';
import { StartRefused } from '../kernel/start-refused.js';
import { binary, isWindows, programEnvironment } from './binaries.js';
import { SUPERUSER } from './connection.js';
import type { ServerLocation } from './location.js';
import { runAs, type ServerUser } from './user.js';

/** Ours, inside the cluster, so that the password moves with the data. */
const STATE_FILE = 'consigliere.json';

/** It takes seconds, unless the disk does not answer. */
const INITDB_LIMIT_MS = 300_000;

/**
 * Makes the cluster under another name and renames it, so that a killed first start leaves nothing that
 * looks like one. Call under the start lock.
 *
 * C.UTF-8 of the built-in provider sorts by bytes and knows the case of every letter, the same on every
 * platform; nothing of it depends on the system's libc or on ICU, so no upgrade corrupts an index.
 */
export async function initialiseCluster(
  { directory, native, user }: ServerLocation,
  { sync, log }: { sync: boolean; log: (message: string) => void },
): Promise<void> {
  await removeUnfinished(directory, log);
  log(`Creating the embedded database in ${directory} (at the first start only).`);
  const unfinished = await mkdtemp(`${directory}.init-`);
  if (user) await chown(unfinished, user.uid, user.gid);
  const cluster = join(unfinished, 'cluster');
  const password = randomBytes(24).toString('base64url');
  const passwordFile = join(unfinished, 'password');
  await writePrivate(passwordFile, password, user);

  const flags = [
    `--pgdata=${cluster}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(sync ? [] : ['--no-sync']),
  ];
  await announceWait(`initdb, which creates the embedded database in ${directory}`, log, () =>
    runInitdb(native, user, flags),
  );
  await writePrivate(join(cluster, STATE_FILE), JSON.stringify({ password }), user);
  await rename(cluster, directory);
  await flushFolder(dirname(directory));
  await rm(unfinished, { recursive: true, force: true });
}

/** The superuser's password. */
export async function readPassword(directory: string): Promise<string> {
  const file = join(directory, STATE_FILE);
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { password: string }).password;
  } catch (cause) {
    throw new StartRefused(`${file}, which contains the embedded database's password, can't be read.`, {
      cause,
    });
  }
}

/** An initdb whose starter was killed may still be writing: its folder is then left to the next first start. */
async function removeUnfinished(directory: string, log: (message: string) => void): Promise<void> {
  const parent = dirname(directory);
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(`${basename(directory)}.init-`)) continue;
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 5 }).catch(() => {
      log(`The unfinished ${join(parent, name)} could not be removed.`);
    });
  }
  if (!existsSync(directory)) return;
  if (readdirSync(directory).length === 0) return rmdir(directory);
  const aside = `${directory}.unfinished-${Date.now()}`;
  await rename(directory, aside);
  log(`${directory} did not contain a complete database cluster; its contents are now in ${aside}.`);
}

async function runInitdb(native: string, user: ServerUser | undefined, flags: string[]): Promise<void> {
  const program = binary(native, 'initdb');
  const options = {
    ...runAs(user),
    cwd: dirname(program),
    env: programEnvironment,
    windowsHide: true,
    timeout: INITDB_LIMIT_MS,
  };
  try {
    await promisify(execFile)(program, flags, options);
  } catch (error) {
    const { stderr, message, killed } = error as Error & { stderr?: string; killed?: boolean };
    const why = killed
      ? `initdb took longer than ${INITDB_LIMIT_MS / 60_000} minutes.`
      : stderr?.trim() || message;
    throw new StartRefused(
      `The embedded database could not be created: ${why}\n` +
        'Set DATABASE_URL to use a server of your own.',
      { cause: error },
    );
  }
}

/** The folder is the server's user's: by the handle, root gives away this file and nothing that was put there instead. */
async function writePrivate(path: string, text: string, user: ServerUser | undefined): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    if (user) await file.chown(user.uid, user.gid);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Without it a power cut could undo the rename after rows were committed. Windows can't open a folder. */
async function flushFolder(folder: string): Promise<void> {
  if (isWindows) return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
