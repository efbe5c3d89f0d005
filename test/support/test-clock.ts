import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { Clock } from '../../src/platform/kernel/clock.js';

/**
 * The time as the application under test sees it: the real one until a test moves it on or stops it. Once it is shared with the
 * test's database, the clock by which decisions are made (`app.clock`) moves with it. What PostgreSQL decides by `now()`
 * (leases, due times) does not: a test sets such rows back by SQL.
 */
export class TestClock extends Clock {
  #ahead = 0;
  #skew = 0;
  #stoppedAt: number | undefined;
  #file: string | undefined;

  override now(): number {
    return (this.#stoppedAt ?? Date.now() + this.#ahead) + this.#skew;
  }

  advance(ms: number): void {
    if (this.#stoppedAt === undefined) this.#ahead += ms;
    else this.#stoppedAt += ms;
    this.tellDatabase();
  }

  /** The process's clock alone is wrong by so much, beside the database's, which is right. */
  skew(ms: number): void {
    this.#skew = ms;
  }

  /** The time stands still, from now or at this instant, until it is advanced or goes on. */
  stop(at = this.now()): void {
    this.#stoppedAt = at;
    this.tellDatabase();
  }

  /** The time stands still at the beginning of a minute, where windows of whole minutes begin. */
  stopAtMinute(): void {
    this.stop(Math.floor(this.now() / 60_000) * 60_000);
  }

  /** The real time again. */
  goOn(): void {
    this.#stoppedAt = undefined;
    this.#ahead = 0;
    this.#skew = 0;
    this.tellDatabase();
  }

  /** Has `app.clock` of this database, which only its owner may replace, follow a file that is written with each move. */
  async share(owner: pg.Pool, name: string): Promise<void> {
    this.#file = join(tmpdir(), `consigliere-clock-${name}`);
    this.tellDatabase();
    await owner.query(`
      create or replace function app.clock() returns timestamptz language plpgsql security definer as $$
      declare
        told constant text := pg_read_file('${this.#file}');
      begin
        return case when told like '=%' then to_timestamp(substr(told, 2)::float8 / 1000)
          else clock_timestamp() + told::float8 * interval '1 millisecond' end;
      end $$`);
  }

  /** Removes what it has left. */
  end(): void {
    if (this.#file !== undefined) rmSync(this.#file, { force: true });
  }

  /** Never half-written: the database may read it at any moment. */
  private tellDatabase(): void {
    if (this.#file === undefined) return;
    const told = this.#stoppedAt === undefined ? String(this.#ahead) : `=${this.#stoppedAt}`;
    writeFileSync(`${this.#file}.new`, told, { mode: 0o644 });
    renameSync(`${this.#file}.new`, this.#file);
  }
}
