import { join } from 'node:path';
import { type Cluster, databaseUrl } from './connection.js';
import { shareLock, type SharedLock, withLock } from './lock.js';
import type { Server } from './server.js';
import { leaveToFolderOwner } from './user.js';

/** How often a process looks whether the server still runs. */
const LOOK_EVERY_MS = 1_000;

interface Start {
  cluster: Cluster;
  initialised: boolean;
  dataDir: string;
  startLock: string;
  server: Server;
  /** The live server, if there is one. Call under the start lock. */
  find: () => Promise<Server | undefined>;
  /** Starts a server at this port. Call under the start lock. */
  launch: (port: number) => Promise<Server>;
  log: (message: string) => void;
}

/**
 * A running server that belongs to all processes over one `dataDir`: the last process to end stops it, whichever started it.
 * Each holds a shared lock while it uses the server, which the operating system releases when the process is killed.
 */
export class SharedServer {
  /** `postgres://consigliere:<password>@127.0.0.1:<port>/consigliere`, a superuser. */
  readonly url: string;
  readonly port: number;
  /** The cluster: `<dataDir>/postgres`, or below the system's state folder. */
  readonly directory: string;
  /** False when this start found a live server, so another process has used it before, and may still. */
  readonly startedByUs: boolean;
  /** True when this start made the cluster. */
  readonly initialised: boolean;
  readonly #start: Start;
  readonly #use: SharedLock;
  #server: Server;
  #timer: NodeJS.Timeout | undefined;
  #restarting = false;
  #stopping: Promise<void> | undefined;

  /** Call under the start lock. */
  constructor(start: Start) {
    const { cluster, server } = start;
    this.url = databaseUrl(cluster, server.port);
    this.port = server.port;
    this.directory = cluster.directory;
    this.startedByUs = server.startedByUs;
    this.initialised = start.initialised;
    this.#start = start;
    this.#server = server;
    const usersLock = join(start.dataDir, 'postgres.users');
    this.#use = shareLock(usersLock);
    leaveToFolderOwner(usersLock);
  }

  /**
   * From now on, starts the server again when it ends without us, at its old port, so that connection pools find it: it
   * may have been killed together with the process that started it (one service unit, one container).
   */
  keepRunning(): void {
    this.#timer ??= setInterval(() => void this.restart(), LOOK_EVERY_MS).unref();
  }

  /** Stops using the server, and shuts it down when no other process uses it; may be called again. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping ??= withLock(this.#start.startLock, this.#start.log, async () => {
      if (this.#use.release()) await (await this.current())?.stop();
      else this.#start.log('The embedded database keeps running because another process uses it.');
    });
    await this.#stopping;
  }

  /** Another user of the server may have started it again since we last looked. */
  private async current(): Promise<Server | undefined> {
    return this.#server.running() ? this.#server : this.#start.find();
  }

  private async restart(): Promise<void> {
    if (this.#restarting || this.#stopping || this.#server.running()) return;
    this.#restarting = true;
    const { startLock, find, launch, log } = this.#start;
    try {
      await withLock(startLock, log, async () => {
        if (this.#stopping) return;
        log('The embedded database has stopped and is being restarted.');
        const server = (await find()) ?? (await launch(this.port));
        if (server.port !== this.port) {
          throw new Error(`it runs on port ${server.port} now instead of ${this.port}: restart this process`);
        }
        this.#server = server;
      });
    } catch (error) {
      log(`The embedded database could not be restarted: ${(error as Error).message}`);
    } finally {
      this.#restarting = false;
    }
  }
}
