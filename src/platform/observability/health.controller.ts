import { Controller, Get, Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { Unavailable } from '../kernel/errors.js';
import { Route } from '../http/route.js';
import { PROBES } from '../rate-limit/limits.js';
import { Health } from './health.dto.js';

/** How long one answer of the database serves all who ask whether the process is ready. */
const FRESH_MS = 1_000;

/** Whether this process should get requests: not before it listens, not once it has been told to end. */
@Injectable()
export class Readiness {
  #draining = false;
  readonly #close = new AbortController();
  #asked: { at: number; ended: boolean; answer: Promise<unknown> } | undefined;

  constructor(private readonly db: Db) {}

  /** Aborted when it stops listening: streams and long waits end with it. */
  get closing(): AbortSignal {
    return this.#close.signal;
  }

  /** The process is to end: it is not ready any more, but still serves. */
  drain(): void {
    this.#draining = true;
  }

  close(): void {
    this.#close.abort();
  }

  /** @throws Unavailable when this process cannot serve, or is about to end */
  async assert(): Promise<void> {
    if (this.#draining) throw new Unavailable({ reason: 'draining', retryAfterSeconds: 1 });
    await this.databaseTakesWrites();
  }

  /** Asks at most once a second, and not again before an answer: probes are never refused, so they must be cheap. */
  private async databaseTakesWrites(): Promise<void> {
    const now = performance.now();
    if (!this.#asked || (this.#asked.ended && now - this.#asked.at >= FRESH_MS)) {
      const asked = { at: now, ended: false, answer: this.askDatabase() };
      const end = () => (asked.ended = true);
      asked.answer.then(end, end);
      this.#asked = asked;
    }
    await this.#asked.answer;
  }

  private async askDatabase(): Promise<void> {
    // `on` for a standby too. What PostgreSQL only finds out when it writes, a full disk, the check of the connector finds.
    const [row] = await this.db.system<{ readOnly: boolean }>(
      `select current_setting('transaction_read_only')::boolean as read_only`,
    );
    if (row!.readOnly) throw new Unavailable({ reason: 'read_only_database' });
  }
}

@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** The process runs. */
  @Get('live')
  @Route({ auth: 'public', limit: PROBES, returns: { 200: Health } })
  checkLiveness(): Health {
    return { status: 'ok' };
  }

  /** The process can serve: its database answers and takes writes, and it is not about to end. */
  @Get('ready')
  @Route({ auth: 'public', limit: PROBES, returns: { 200: Health }, errors: [Unavailable] })
  async checkReadiness(): Promise<Health> {
    await this.readiness.assert();
    return { status: 'ok' };
  }
}
