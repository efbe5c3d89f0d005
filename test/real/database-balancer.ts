import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type MachineServer } from '../support/machine-postgres.js';
import { programPath, startProgram } from '../support/programs.js';
import { snippet } from './proxies.js';

/** HAProxy before two servers, set up as docs/guides/high-availability.md says. */
export interface DatabaseBalancer {
  /** That of whichever server is the primary, and that of a replica. */
  ports: { primary: number; replica: number };
  stop(): Promise<void>;
}

export async function startDatabaseBalancer(servers: MachineServer[]): Promise<DatabaseBalancer> {
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-balancer-'));
  const roles = await Promise.all(servers.map(tellRole));
  const ports = { primary: await freePort(), replica: await freePort() };
  let configuration = (await snippet('high-availability', 'database.haproxy'))
    .replace('bind :5000', `bind 127.0.0.1:${ports.primary}`)
    .replace('bind :5001', `bind 127.0.0.1:${ports.replica}`)
    .replaceAll(' port 8008', '');
  for (const [index, { port }] of servers.entries()) {
    const asked = (roles[index]!.address() as AddressInfo).port;
    configuration = configuration.replaceAll(`10.0.0.1${index + 1}:5432`, `127.0.0.1:${port} port ${asked}`);
  }
  const file = join(folder, 'haproxy.conf');
  await writeFile(file, configuration);
  const running = await startProgram(programPath('haproxy')!, ['-db', '-f', file], Object.values(ports));
  return {
    ports,
    async stop() {
      await running.stop();
      for (const role of roles) role.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Answers as Patroni's REST interface does: 200 where the server has the role of the path, else 503. */
async function tellRole(server: MachineServer): Promise<Server> {
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
  return told;
}
