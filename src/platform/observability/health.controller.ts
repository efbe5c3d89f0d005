import { Controller, Get, Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { Unavailable } from '../kernel/errors.js';
import { Route } from '../http/route.js';
import { PROBES } from '../rate-limit/limits.js';
import { Health } from './health.dto.js';

/** Whether this process should get requests: not before it listens, not once it has been told to end. */
@Injectable()
export class Readiness {
  readonly #drain = new AbortController();

  /** Aborted when the process is about to end: streams and long waits end with it. */
  get draining(): AbortSignal {
    return this.#drain.signal;
  }

  drain(): void {
    this.#drain.abort();
  }
}

@Controller('health')
export class HealthController {
  constructor(
    private readonly db: Db,
    private readonly readiness: Readiness,
  ) {}

  /** The process runs. */
  @Get('live')
  @Route({ auth: 'public', limit: PROBES, returns: { 200: Health } })
  live(): Health {
    return { status: 'ok' };
  }

  /** The process can serve: its database answers and takes writes, and it is not about to end. */
  @Get('ready')
  @Route({ auth: 'public', limit: PROBES, returns: { 200: Health }, errors: [Unavailable] })
  async ready(): Promise<Health> {
    if (this.readiness.draining.aborted) throw new Unavailable({ reason: 'draining', retryAfterSeconds: 1 });
    // `on` for a standby too. What PostgreSQL only finds out when it writes, a full disk, the check of the connector finds.
    const [row] = await this.db.system<{ readOnly: boolean }>(
      `select current_setting('transaction_read_only')::boolean as read_only`,
    );
    if (row!.readOnly) throw new Unavailable({ reason: 'read_only_database' });
    return { status: 'ok' };
  }
}
