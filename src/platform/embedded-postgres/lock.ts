import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { announceWait } from '../kernel/announce-wait.js';
import { StartRefused } from '../kernel/start-refused.js';

const SQLITE_BUSY = 5;
/** Longer than any start: crash recovery is given two minutes. */
const TIMEOUT_MS = 180_000;

/**
 * Runs `work` while no other process, and no other caller in this one, holds the lock.
 *
 * The lock is the operating system's (fcntl, LockFileEx), so it goes when its holder goes, SIGKILL
 * included. Node offers no flock; an exclusive SQLite transaction on a file that stays empty is one, on
 * every platform. A file with a pid in it was considered: deleting the one a dead holder left can't be told
 * from deleting the one its successor just made.
 */
export async function withLock<T>(
  path: string,
  log: (message: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const what = `the lock ${path}, which another process of this DATA_DIR holds while it starts or ends`;
  const lock = await announceWait(what, log, () => acquire(path));
  try {
    return await work();
  } finally {
    lock.close();
  }
}

/** A lock that any number of processes hold at the same time. */
export interface SharedLock {
  /** Releases it; true when nobody else holds it. Call where nobody can come to hold it meanwhile. */
  release(): boolean;
}

/** Never waits: an exclusive lock on the same file is only tried, by {@link SharedLock.release}. */
export function shareLock(path: string): SharedLock {
  const shared = new DatabaseSync(path);
  // The first read of a transaction takes the lock, and the transaction keeps it.
  shared.exec('BEGIN; SELECT * FROM sqlite_master');
  return {
    release() {
      shared.close();
      const exclusive = tryLock(path);
      exclusive?.close();
      return exclusive !== undefined;
    },
  };
}

async function acquire(path: string): Promise<DatabaseSync> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const lock = tryLock(path);
    if (lock) return lock;
    if (performance.now() > deadline) {
      throw new StartRefused(
        `Another process has locked ${path} for ${TIMEOUT_MS / 60_000} minutes and does not finish starting or ending. End that process, then start again.`,
      );
    }
    await sleep(20);
  }
}

function tryLock(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (cause) {
    database?.close();
    if ((cause as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw new StartRefused(`${path} can't be locked: ${String(cause)}`, { cause });
  }
}
