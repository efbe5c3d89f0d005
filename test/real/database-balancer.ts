import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, type MachineServer } from '../support/machine-postgres.js';
import { programPath, startProgram } from '../support/programs.js';
import { snippet } from './proxies.js';

/** HAProxy takes every server for well until it has asked it. */
const ASKED_MS = 2_000;

/** HAProxy before two servers, set up as docs/guides/high-availability.md says. */
export interface DatabaseBalancer {
  /** That of whichever server is the primary, and that of a replica. */
  ports: { primary: number; replica: number };
  stop(): Promise<void>;
}

/** The ports of a server, and of what tells its role as Patroni's REST interface does. */
export interface BalancedServer {
  port: number;
  restPort: number;
}

export async function startDatabaseBalancer(servers: BalancedServer[]): Promise<DatabaseBalancer> {
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-balancer-'));
  const ports = { primary: await freePort(), replica: await freePort() };
  let configuration = (await snippet('high-availability', 'database.haproxy'))
    .replace('bind :5000', `bind 127.0.0.1:${ports.primary}`)
    .replace('bind :5001', `bind 127.0.0.1:${ports.replica}`)
    .replaceAll(' port 8008', '');
  for (const [index, { port, restPort }] of servers.entries()) {
    configuration = configuration.replaceAll(
      `10.0.0.1${index + 1}:5432`,
      `127.0.0.1:${port} port ${restPort}`,
    );
  }
  const file = join(folder, 'haproxy.conf');
  await writeFile(file, configuration);
  const running = await startProgram(programPath('haproxy')!, ['-db', '-f', file], Object.values(ports));
  await sleep(ASKED_MS);
  return {
    ports,
    async stop() {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Answers for a server that has no Patroni: 200 where the server has the role of the path, else 503. */
export async function tellRole(server: MachineServer): Promise<BalancedServer & { close(): void }> {
  const isReplica = async () => {
    const { rows } = await server.run('select pg_is_in_recovery() as replica');
    return (rows as { replica: boolean }[])[0]!.replica;
  };
  const told = createServer(({ url }, response) => {
    void isReplica().then(
      (replica) => response.writeHead(replica === (url === '/replica') ? 200 : 503).end(),
      () => response.writeHead(503).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(told, 'listening');
  const restPort = (told.address() as AddressInfo).port;
  return { port: server.port, restPort, close: () => void told.close() };
}
