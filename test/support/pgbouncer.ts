import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runAs, serverUser } from '../../src/platform/embedded-postgres/user.js';
import { freePort } from './machine-postgres.js';

const PROGRAM = '/usr/sbin/pgbouncer';

export const hasPgbouncer = existsSync(PROGRAM);

/** A pgbouncer in front of the server of an address. */
export interface Pgbouncer {
  /** The same database and user, through the pooler. */
  url: string;
  stop(): Promise<void>;
}

/**
 * With pgbouncer's defaults but for `settings`, of which an empty one is left out: the pool mode is `session`, and no startup parameter is ignored. It looks
 * passwords up in the server, as a pooler must that does not know the role which the service makes for itself.
 */
export async function startPgbouncer(
  serverUrl: string,
  settings: Record<string, string> = {},
): Promise<Pgbouncer> {
  const server = new URL(serverUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-pgbouncer-'));
  const users = join(folder, 'users.txt');
  const ini = join(folder, 'pgbouncer.ini');
  const all: Record<string, string> = {
    unix_socket_dir: folder,
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    auth_type: 'scram-sha-256',
    auth_file: users,
    auth_user: server.username,
    ...settings,
  };
  const lines = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name} = ${value}`);
  await writeFile(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  await writeFile(
    ini,
    `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  // It refuses to work as root.
  const user = serverUser(undefined);
  await chmod(folder, 0o755);
  if (user) for (const path of [folder, users, ini]) await chown(path, user.uid, user.gid);
  const child = spawn(PROGRAM, [ini], { ...runAs(user), cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  while (!log.includes('process up')) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${log}`);
    await sleep(10);
  }
  return {
    url: url.href,
    async stop() {
      process.off('exit', kill);
      if (child.exitCode === null) {
        kill();
        await once(child, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
