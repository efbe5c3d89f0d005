import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { isCancelled, isLateResult } from '../database/database-errors.js';
import { Db } from '../database/db.js';
import { newId } from '../kernel/ids.js';
import { RequestContext } from '../kernel/request-context.js';
import { Unavailable } from '../kernel/errors.js';
import { Tracing } from '../observability/tracing.js';
import { backoffMs } from './backoff.js';
import { Work } from './work.js';
import { scopeOfWork, type WorkError, type WorkItem, type WorkKind } from './work-item.js';

/** Work that has ended its process so often is not begun again. */
const CRASHES = 3;
/** After this many failures beyond its tries nobody can even give it up: it stays, parked, for a person to look at. */
const GIVE_UP_TRIES = 3;
/** How often the end of an attempt is tried while the database cannot be reached: a little longer than a lease. */
const RECORD_TRIES = 20;
const RECORD_EVERY_MS = 500;

const PROCESS_ENDED: WorkError = {
  code: 'PROCESS_ENDED',
  message: `The process that worked on it ended ${CRASHES} times; it is not tried again.`,
};

const UNEXPECTED: WorkError = { code: 'UNEXPECTED', message: 'An unexpected error occurred.' };

/** Sees one attempt to its end, whatever happens: no error is lost, none is tried again for ever or at once. */
@Injectable()
export class Attempts {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly tracing: Tracing,
    private readonly logger: PinoLogger,
  ) {}

  /** Never fails. */
  run(kind: WorkKind, item: WorkItem, signal: AbortSignal): Promise<void> {
    const context = new RequestContext(newId('req'));
    const span = this.tracing.ofWork(item);
    context.trace = span;
    return RequestContext.run(context, async () => {
      try {
        const hopeless = reasonToGiveUp(kind, item);
        if (hopeless) await this.giveUpOrPark(kind, item, hopeless);
        else await kind.run(item, signal);
        if (!this.work.hasEnded(item)) await this.inTransaction(item, () => this.work.complete(item));
        span?.end(false);
      } catch (error) {
        await this.failed(kind, item, error);
        span?.end(true);
      }
    });
  }

  private async failed(kind: WorkKind, item: WorkItem, error: unknown): Promise<void> {
    const { id, attempt } = item;
    const about = { err: error, kind: kind.name, id, attempt };
    if (isLateResult(error)) {
      this.logger.info(about, 'a late result was discarded');
      return;
    }
    // What keeps the database from us says nothing about the work.
    const isOutage = error instanceof Unavailable && !isCancelled(error.cause);
    this.logger.warn(about, isOutage ? 'work waits for the database' : 'an attempt at work failed');
    // Its crashes are forgotten once an end is recorded, and it must not be begun again: the lease ends by itself.
    if (isOutage && item.crashes >= CRASHES) return;
    for (let tries = 0; tries < RECORD_TRIES; tries++) {
      try {
        await this.record(kind, item, isOutage ? null : workErrorOf(error));
        return;
      } catch (again) {
        if (isLateResult(again)) return;
        if (!(again instanceof Unavailable)) {
          this.logger.error({ ...about, err: again }, 'the end of an attempt could not be recorded');
          return;
        }
        await pause(RECORD_EVERY_MS);
      }
    }
  }

  /** Records the failed attempt in a transaction of its own, after that of the work was rolled back. */
  private async record(kind: WorkKind, item: WorkItem, error: WorkError | null): Promise<void> {
    const failures = item.failures + 1;
    if (error === null) {
      await this.inTransaction(item, () => this.work.reschedule(item, backoffMs(1)));
    } else if (failures < kind.tries) {
      await this.inTransaction(item, () => this.work.reschedule(item, backoffMs(failures), error));
    } else {
      await this.giveUpOrPark(kind, item, error);
    }
  }

  /** What made the work fail may keep it from being given up as well. */
  private async giveUpOrPark(kind: WorkKind, item: WorkItem, error: WorkError): Promise<void> {
    try {
      await this.giveUp(kind, item, error);
    } catch (again) {
      if (isLateResult(again) || again instanceof Unavailable) throw again;
      // From here on the item counts as failed too often, so that it is only given up, and never begun again.
      const failures = Math.max(item.failures + 1, kind.tries);
      const isLast = failures >= kind.tries + GIVE_UP_TRIES;
      this.logger.error({ err: again, kind: kind.name, id: item.id, isLast }, 'work could not be given up');
      const waitMs = isLast ? Infinity : backoffMs(failures);
      await this.inTransaction(item, () =>
        this.work.reschedule(item, waitMs, error, failures - item.failures),
      );
    }
  }

  private giveUp(kind: WorkKind, item: WorkItem, error: WorkError): Promise<void> {
    return this.inTransaction(item, async () => {
      const renewal = await kind.giveUp(item, error);
      // Renewed, it has failed at nothing yet.
      if (renewal) this.work.reschedule(item, renewal.waitMs, null, -item.failures);
      else this.work.complete(item);
    });
  }

  private async inTransaction(item: WorkItem, act: () => void | Promise<void>): Promise<void> {
    await this.db.transaction(scopeOfWork(item), async () => {
      await act();
    });
  }
}

/** Why an item is not begun again, if it is not. */
function reasonToGiveUp(kind: WorkKind, { crashes, failures, lastError }: WorkItem): WorkError | null {
  if (failures >= kind.tries) return lastError ?? UNEXPECTED;
  return crashes >= CRASHES ? PROCESS_ENDED : null;
}

/** What an operator is told; the log has the rest. */
function workErrorOf(error: unknown): WorkError {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string'
    ? { ...UNEXPECTED, message: `An unexpected error occurred (${code}).` }
    : UNEXPECTED;
}
