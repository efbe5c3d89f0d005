import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { FEWEST_DAYS, MOST_DAYS, RETENTION_DAYS } from '../workspaces/index.js';
import { ExpiredRows } from './tenancy.repository.js';

/** Small enough that a run holds its locks for some tens of milliseconds. */
const ROWS_AT_ONCE = 1_000;
/** At most this many runs in a row, so that a large backlog is spread over the hours of a night. */
const RUNS_IN_A_ROW = 10;

const BOUNDS = Object.fromEntries(
  Object.entries(RETENTION_DAYS).map(([subject, standard]) => [
    subject,
    { standard, fewest: FEWEST_DAYS[subject as keyof typeof RETENTION_DAYS], most: MOST_DAYS },
  ]),
);

/** How many rows were deleted of each kind. */
type DeletedRows = Record<string, number>;

/** Deletes what is kept no longer (docs/retention.md), some at a time; several processes may do it at once. */
@Injectable()
export class DeleteExpired {
  constructor(
    private readonly expired: ExpiredRows,
    private readonly logger: PinoLogger,
  ) {}

  @Interval(60_000)
  async inBackground(): Promise<void> {
    // What fails now is deleted in a minute.
    await this.execute().catch((error: unknown) => {
      this.logger.warn(
        { err: error },
        'what is kept no longer could not be deleted; the next try follows in a minute',
      );
    });
  }

  async execute(): Promise<DeletedRows> {
    const all: DeletedRows = {};
    for (let run = 0; run < RUNS_IN_A_ROW; run++) {
      const rows = await this.expired.delete(ROWS_AT_ONCE, BOUNDS);
      for (const { subject, deleted } of rows) all[subject] = (all[subject] ?? 0) + deleted;
      if (rows.every(({ deleted }) => deleted < ROWS_AT_ONCE)) break;
    }
    return all;
  }
}
