import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Channel } from '../../platform/database/channel.js';

/** The runs and work packets under way in this process, so that a kill can abort those of its workspace at once. */
@Injectable()
export class Runs implements OnModuleInit {
  readonly #running = new Map<string, Set<AbortController>>();

  constructor(private readonly channel: Channel) {}

  onModuleInit(): void {
    this.channel.subscribe('guardian', ({ workspaceId, id }) => {
      if (id === 'killed') this.abort(workspaceId);
    });
  }

  /** Runs `work` with a signal that a kill of the workspace aborts. */
  async during<T>(workspaceId: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const running = this.#running.get(workspaceId) ?? new Set();
    this.#running.set(workspaceId, running.add(controller));
    try {
      return await work(controller.signal);
    } finally {
      running.delete(controller);
      if (running.size === 0) this.#running.delete(workspaceId);
    }
  }

  private abort(workspaceId: string): void {
    for (const controller of this.#running.get(workspaceId) ?? []) controller.abort();
  }
}
