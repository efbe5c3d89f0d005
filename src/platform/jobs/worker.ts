import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Logger as GraphileLogger, run, type Runner, type TaskList } from 'graphile-worker';
import { PinoLogger } from 'nestjs-pino';
import pg from 'pg';
import { Config } from '../config/config.js';
import { DatabaseAddress } from '../database/database-address.js';
import { Db } from '../database/db.js';
import { newId } from '../kernel/ids.js';
import { RequestContext } from '../kernel/request-context.js';
import { Bell, type Ring } from './bell.js';
import { Jobs, type JobTarget } from './jobs.js';

const CONCURRENCY = 8;
/** Only for what a notification did not tell: after a restart of the database the listening may not come back. */
const POLL_MS = 1_000;
const OVERDUE_AT_ONCE = 200;

/**
 * Takes up jobs in this process. A job is a bell for a row that holds the truth, so nothing is lost with a job: the
 * sweep rings again for every row whose time has passed, whoever let it lie.
 */
@Injectable()
export class Worker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  #runner: Runner | undefined;
  #pool: pg.Pool | undefined;

  constructor(
    private readonly config: Config,
    private readonly address: DatabaseAddress,
    private readonly db: Db,
    private readonly jobs: Jobs,
    private readonly bell: Bell,
    private readonly logger: PinoLogger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.processRole === 'api') return;
    this.#pool = new pg.Pool({
      connectionString: this.address.ownerUrl,
      max: 6,
      application_name: 'consigliere worker',
    });
    this.#pool.on('error', (error) =>
      this.logger.warn({ err: error }, 'a connection of the worker was lost'),
    );
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
    this.#runner = await run({
      pgPool: this.#pool,
      taskList: this.tasks(),
      concurrency: CONCURRENCY,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      logger: new GraphileLogger(() => () => undefined),
    });
    this.#runner.promise.catch((error: unknown) => this.logger.error({ err: error }, 'the worker stopped'));
  }

  /** Lets running jobs end; what they do not finish is taken up by another process when its lease is over. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#runner?.stop().catch(() => undefined);
    await this.#pool?.end().catch(() => undefined);
  }

  @Interval(1_000)
  async sweep(): Promise<void> {
    if (!this.#runner) return;
    try {
      const overdue = await this.db.system<Ring>(
        `select task, workspace_id, id from app.overdue_work(interval '1 second', $1)`,
        [OVERDUE_AT_ONCE],
      );
      this.bell.ring(...overdue);
    } catch (error) {
      this.logger.warn({ err: error }, 'the sweep for overdue work failed; the next one follows in a second');
    }
  }

  private tasks(): TaskList {
    return Object.fromEntries(
      [...this.jobs.handlers].map(([task, handler]) => [
        task,
        async (payload: unknown) => {
          const target = payload as JobTarget;
          await RequestContext.run(new RequestContext(newId('req')), () =>
            handler(target, { workspaceId: target.workspaceId, teamIds: 'all' }),
          ).catch((error: unknown) => {
            this.logger.warn({ err: error, task, id: target.id }, 'a job failed; its row is swept up again');
          });
        },
      ]),
    );
  }
}
