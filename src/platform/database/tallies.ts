import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { Db } from './db.js';

/** Far more than a process writes in the time between two runs. */
const CHANGES_AT_ONCE = 20_000;

/**
 * Adds up what acts have noted, so that a reader has few changes to add to the tallies. Reads are exact whether or not
 * it has run; several processes may do it at once.
 */
@Injectable()
export class Tallies {
  constructor(
    private readonly db: Db,
    private readonly logger: PinoLogger,
  ) {}

  @Interval(2_000)
  async fold(): Promise<void> {
    // What fails now is added up in two seconds.
    await this.db.system('select app.fold_tallies($1)', [CHANGES_AT_ONCE]).catch((error: unknown) => {
      this.logger.warn({ err: error }, 'tallies could not be added up; the next try follows in two seconds');
    });
  }
}
