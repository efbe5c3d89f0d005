import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Config } from './platform/config/config.js';
import { databaseFault } from './platform/database/database-fault.js';
import { StartRefused } from './platform/kernel/start-refused.js';

/**
 * Listens for a moment where the service is to listen, before a database is made for it: a first start that ends with
 * "port in use" has lost somebody's time.
 * @throws StartRefused
 */
export async function assertPortsFree({ host, port, metricsPort }: Config): Promise<void> {
  await assertFree(host, port, 'PORT');
  if (metricsPort !== undefined) await assertFree(host, metricsPort, 'METRICS_PORT');
}

async function assertFree(host: string, port: number, variable: string): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    throw portFault(error, host, port, variable) ?? error;
  }
  server.close();
  await once(server, 'close');
}

/** Why the service cannot listen there; undefined for an error of another kind. */
function portFault(error: unknown, host: string, port: number, variable = 'PORT'): StartRefused | undefined {
  const because: Record<string, string> = {
    EADDRINUSE: `Port ${port} at ${host} is in use by another program, or by a Consigliere that runs already. End that one, or set ${variable} to another port.`,
    EACCES: `This user may not listen on port ${port}. Set ${variable} to a port above 1023.`,
    EADDRNOTAVAIL: `HOST ${host} is not an address of this machine. Set HOST to 127.0.0.1, or to 0.0.0.0 for all network interfaces.`,
    ENOTFOUND: `HOST ${host} cannot be found. Set HOST to 127.0.0.1, or to 0.0.0.0 for all network interfaces.`,
  };
  because['EAI_AGAIN'] = because['ENOTFOUND']!;
  const message = because[(error as NodeJS.ErrnoException).code ?? ''];
  return message === undefined ? undefined : new StartRefused(message, { cause: error });
}

/**
 * Writes a file into DATA_DIR and removes it: access rights alone do not tell, for root may do everything and a
 * read-only file system still says no.
 * @throws StartRefused
 */
export function assertDataDir({ dataDir, databaseUrl, secretsKey, mailTransport }: Config): void {
  // With everything kept elsewhere, a process may do without the folder.
  if (databaseUrl !== undefined && secretsKey !== undefined && mailTransport === 'smtp') return;
  const file = join(dataDir, `.write-check-${randomUUID()}`);
  try {
    makeFolder(dataDir);
    writeFileSync(file, '', { flag: 'wx' });
    rmSync(file);
  } catch (error) {
    throw dataDirFault(error, dataDir) ?? error;
  }
}

/** Node's own `recursive` never ends below a folder such as /proc, which denies that it could hold the new one. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have been quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

const FILE_FAULTS: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'it, or a part of its path, is a file and not a folder',
  EEXIST: 'it, or a part of its path, is a file and not a folder',
  ENOENT: 'it cannot be created',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'its path is a circle of links',
  ENAMETOOLONG: 'its path is too long',
};

function dataDirFault(error: unknown, dataDir: string): StartRefused | undefined {
  const { code = '', path } = error as NodeJS.ErrnoException;
  const because = FILE_FAULTS[code];
  if (because === undefined || path === undefined || !(path.startsWith(dataDir) || dataDir.startsWith(path)))
    return undefined;
  return new StartRefused(
    `The folder ${dataDir} cannot be written to: ${because}. Change that, or set DATA_DIR to another folder.`,
    { cause: error },
  );
}

/**
 * Before a database is made, as the ports.
 * @throws ConnectorsInvalid for a CONNECTORS_FILE that cannot be used
 */
export async function assertConnectors(config: Config): Promise<void> {
  if (!config.connectorsFile) return;
  const { loadConnectors } = await import('./features/connectors/load-connectors.js');
  loadConnectors(config.connectorsFile, config);
}

/** The same error as a sentence with the remedy, if it is one that the person who starts the program can mend. */
export function asStartRefused(error: unknown, config: Config, databaseUrl: string): unknown {
  if (error instanceof StartRefused) return error;
  const { syscall } = error as NodeJS.ErrnoException;
  const fault = syscall === 'listen' ? portFault(error, config.host, config.port) : undefined;
  return fault ?? dataDirFault(error, config.dataDir) ?? databaseFault(error, databaseUrl) ?? error;
}
