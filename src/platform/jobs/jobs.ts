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
    const { jobs, scope } = this.db.unit;
    const key = `${task} ${id}`;
    const job = {
      task,
      key,
      payload: { workspaceId: scope.workspaceId, id },
      ...(runAt !== undefined && { runAt }),
    };
    // The queue takes each key once a call, so the rings of one transaction are merged here.
    const earlier = jobs.findIndex((other) => other.key === key);
    if (earlier === -1) jobs.push(job);
    else jobs[earlier] = job;
  }
}
