import { createHash } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused } from '../kernel/start-refused.js';
import { copyBinaries, makeRunnable, type Binaries } from './binaries.js';
import { canEnter, isRoot, serverUser, type ServerUser } from './user.js';

/** What the machine brings; the tests bring their own. */
export interface Host {
  binaries: Binaries;
  /** Where binaries and clusters go that the server's user can't reach where they are. */
  stateFolder: string;
}

/** Where a server runs, from what, and as whom. */
export interface ServerLocation {
  /** The cluster's folder. */
  directory: string;
  native: string;
  /** Undefined: as ourselves. */
  user: ServerUser | undefined;
}

/** Only root ever writes here. */
export const systemStateFolder =
  process.platform === 'darwin' ? '/var/db/consigliere' : '/var/lib/consigliere';

/**
 * An existing cluster is never left behind for a new one: folders may have been opened or closed since it
 * was made, and an empty database would look like lost data.
 */
export async function findLocation(
  host: Host,
  dataDir: string,
  log: (message: string) => void,
): Promise<ServerLocation> {
  const inDataDir = join(dataDir, 'postgres');
  const outside = clusterInStateFolder(host.stateFolder, dataDir);
  const existing = [inDataDir, outside].find((directory) => isOurs(directory) && hasCluster(directory));
  const user = serverUser(existing);

  const directory = existing ?? (!user || canEnter(user, dataDir) ? inDataDir : outside);
  if (directory === outside) {
    if (!existing) await makeStateFolder(host.stateFolder, join(host.stateFolder, 'clusters'));
    log(`The embedded database is in ${directory}, because its user has no access to ${dataDir}.`);
  }
  return { directory, native: await reachableBinaries(host, user, log), user };
}

/** PG_VERSION comes with the rename that ends `initialiseCluster`, so never half-made. */
export function hasCluster(directory: string): boolean {
  return existsSync(join(directory, 'PG_VERSION'));
}

function clusterInStateFolder(stateFolder: string, dataDir: string): string {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(stateFolder, 'clusters', name);
}

/** Without root, another user's cluster is a dead end that must not be taken for "no cluster yet". */
function isOurs(directory: string): boolean {
  const owner = statSync(directory, { throwIfNoEntry: false })?.uid;
  if (owner === undefined || isRoot || owner === (process.getuid?.() ?? owner)) return true;
  throw new StartRefused(
    `The embedded database in ${directory} belongs to user ${owner}. ` +
      'Start as that user or as root, or set DATABASE_URL.',
  );
}

async function reachableBinaries(
  { binaries, stateFolder }: Host,
  user: ServerUser | undefined,
  log: (message: string) => void,
): Promise<string> {
  let native = realpathSync(binaries.native);
  if (user && !['bin', 'lib'].every((part) => canEnter(user, join(native, part)))) {
    await makeStateFolder(stateFolder);
    native = await copyBinaries(binaries, stateFolder, log);
    log(`PostgreSQL runs from ${native} because the user ${user.name} has no access to ${binaries.native}.`);
  }
  await makeRunnable(native);
  return native;
}

/** Open to be entered whatever root's umask. */
async function makeStateFolder(...folders: string[]): Promise<void> {
  for (const folder of folders) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
  }
}
