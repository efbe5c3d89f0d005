import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import type { Scope } from '../database/unit-of-work.js';

/** What a worker is woken for: a row of this workspace. The row says what is to be done; the job is only the bell. */
export interface JobTarget {
  workspaceId: string;
  id: string;
}

export type JobHandler = (target: JobTarget, scope: Scope) => Promise<void>;

/** Wakes workers, and knows who answers which bell. */
@Injectable()
export class Jobs {
  readonly handlers = new Map<string, JobHandler>();

  constructor(private readonly db: Db) {}

  /** Names the handler of a task; called while the program starts. */
  handle(task: string, handler: JobHandler): void {
    if (this.handlers.has(task)) throw new Error(`the task ${task} has two handlers`);
    this.handlers.set(task, handler);
  }

  /**
   * Rings for a row once the open transaction has committed, or at `runAt` (Unix milliseconds). A second ring for the
   * same row replaces the first.
   */
  wake(task: string, id: string, runAt?: number): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.unit.jobs.push({
      task,
      key: `${task} ${id}`,
      payload: { workspaceId, id },
      ...(runAt !== undefined && { runAt }),
    });
  }
}
