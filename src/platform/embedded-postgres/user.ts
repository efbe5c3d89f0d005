import { lchownSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartRefused } from '../kernel/start-refused.js';

/** The unprivileged user a server started by root runs as: PostgreSQL refuses root. */
export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/** macOS calls its PostgreSQL user `_postgres`. */
const CANDIDATES = ['postgres', '_postgres', 'nobody'];

export const isRoot = process.getuid?.() === 0;

/** The user for a server over `cluster` (undefined: no cluster yet), or undefined to run as ourselves. */
export function serverUser(cluster: string | undefined): ServerUser | undefined {
  if (!isRoot) return undefined;
  if (cluster !== undefined) {
    const { uid, gid } = statSync(cluster);
    if (uid !== 0) return { name: `user ${uid}`, uid, gid };
  }
  const known = readFileSync('/etc/passwd', 'utf8').split('\n').map(parseUser);
  const user = CANDIDATES.map((name) => known.find((entry) => entry.name === name)).find(Boolean);
  if (!user) {
    throw new StartRefused(
      `PostgreSQL refuses to run as root and none of the users ${CANDIDATES.join(', ')} exists. ` +
        'Start as another user, or set DATABASE_URL.',
    );
  }
  return user;
}

/** `>>> 0`: macOS writes nobody as -2, which `chown` wants as 4294967294. */
function parseUser(line: string): ServerUser {
  const [name = '', , uid, gid] = line.split(':');
  return { name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

/** The identity options of `spawn`, which unlike `chown` wants a signed number. */
export function runAs(user: ServerUser | undefined): { uid?: number; gid?: number } {
  return user ? { uid: user.uid | 0, gid: user.gid | 0 } : {};
}

/** Whether `user` has the execute bit on `folder` and on every folder above it. */
export function canEnter(user: ServerUser, folder: string): boolean {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/** What root leaves in somebody's folder belongs to that somebody, who may start without root next time. */
export function leaveToFolderOwner(path: string): void {
  if (!isRoot) return;
  const { uid, gid } = statSync(dirname(path));
  lchownSync(path, uid, gid);
}
