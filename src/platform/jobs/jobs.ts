import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import type { Scope } from '../database/unit-of-work.js';
import { Bell } from './bell.js';

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

  constructor(
    private readonly db: Db,
    private readonly bell: Bell,
  ) {}

  /** Names the handler of a task; called while the program starts. */
  handle(task: string, handler: JobHandler): void {
    if (this.handlers.has(task)) throw new Error(`the task ${task} has two handlers`);
    this.handlers.set(task, handler);
  }

  /** Rings for a row once the open transaction has committed, or at `runAt` (Unix milliseconds). */
  wake(task: string, id: string, runAt?: number): void {
    const { scope, afterCommit } = this.db.unit;
    const { workspaceId } = scope;
    afterCommit.push(() => this.bell.ring({ task, workspaceId, id, ...(runAt !== undefined && { runAt }) }));
  }
}
