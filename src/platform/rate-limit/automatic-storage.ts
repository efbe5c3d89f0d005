import { Channel } from '../database/channel.js';
import { MemoryStorage } from './memory-storage.js';
import { PostgresStorage } from './postgres-storage.js';
import { WindowStorage } from './window-storage.js';
import type { Window, WindowState } from './windows.js';

/**
 * Counts in memory while this is the only process of its database, and in PostgreSQL from the moment that another is
 * there: one that starts later sees the first before it answers anything, and the first sees it within a second and
 * hands over what it has counted.
 */
export class AutomaticStorage extends WindowStorage {
  #alone = true;

  constructor(
    private readonly memory: MemoryStorage,
    private readonly shared: PostgresStorage,
    private readonly channel: Channel,
  ) {
    super();
  }

  override hit(windows: readonly Window[]): Promise<WindowState[]> {
    return (this.#alone ? this.memory : this.shared).hit(windows);
  }

  override async start(): Promise<void> {
    this.#alone = !(await this.channel.hasPeers());
  }

  override async everySecond(): Promise<void> {
    if (this.#alone) this.#alone = !(await this.channel.hasPeers().catch(() => false));
    if (this.#alone) return this.memory.everySecond();
    await this.memory.handOver((counted) => this.shared.add(counted));
    await this.shared.everySecond();
  }

  override async end(): Promise<void> {
    await this.memory.end();
  }
}
