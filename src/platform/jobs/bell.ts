import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Db } from '../database/db.js';
import { Batches } from '../kernel/batches.js';

/** A wake-up for a worker; `runAt` in Unix milliseconds. One job exists per row and task. */
export interface Ring {
  task: string;
  workspaceId: string;
  id: string;
  runAt?: number;
}

/** Under load the rings of this long go in one call, which costs hardly more than one ring alone. */
const GATHER_MS = 20;

/**
 * Rings for rows whose act has committed. A ring that is lost, with the process or with the database, costs a second:
 * the sweep rings for every row whose time has passed (docs/decisions/0002).
 */
@Injectable()
export class Bell implements BeforeApplicationShutdown {
  readonly #rings: Batches<Ring>;

  constructor(db: Db, logger: PinoLogger) {
    this.#rings = new Batches(async (rings) => {
      try {
        await db.system('select app.ring($1::jsonb)', [JSON.stringify(jobsOf(rings))]);
      } catch (error) {
        logger.warn({ err: error }, 'workers could not be woken; the sweep will find what is due');
      }
    }, GATHER_MS);
  }

  ring(...rings: Ring[]): void {
    this.#rings.add(...rings);
  }

  /** While the database can still be reached. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#rings.drained();
  }
}

/** The queue takes each key once a call; of two rings for one row the later counts. */
function jobsOf(rings: readonly Ring[]) {
  const jobs = new Map(
    rings.map(({ task, workspaceId, id, runAt }) => {
      const key = `${task} ${id}`;
      const at = runAt === undefined ? null : new Date(runAt).toISOString();
      return [key, { task, key, payload: { workspaceId, id }, runAt: at }];
    }),
  );
  return [...jobs.values()];
}
