import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Counter, Gauge } from 'prom-client';
import type { Statement } from '../database/batch.js';
import { Db } from '../database/db.js';
import { Replica } from '../database/replica.js';
import { Metrics } from './metrics.js';

/** Scrapes that come closer together than this share one look at the database. */
const FRESH_MS = 1_000;
/** A database that lets others wait, too, must not hide the figures of the process. */
const LOOK_LIMIT_MS = 1_000;

/** A figure that stands in the database: every process answers the same. */
export interface Figure {
  name: string;
  help: string;
  /** The label that tells the rows apart; its values must be few and known, never an id. Left out, there is one row. */
  label?: string;
  /** Answers rows of `label` and `value`; it must cost the same however much history there is. */
  statement: () => Statement;
}

interface FigureRow {
  label?: string;
  value: number | string;
}

/** All figures for Prometheus: those of the process, and beside them what features read from the database. */
@Injectable()
export class Figures {
  readonly #figures: { figure: Figure; gauge: Gauge }[] = [];
  readonly #database: Gauge;
  #looked: { at: number; ended: boolean; done: Promise<void> } | undefined;

  constructor(
    private readonly metrics: Metrics,
    private readonly db: Db,
    private readonly logger: PinoLogger,
    replica: Replica,
  ) {
    this.#database = new Gauge({
      name: 'consigliere_database_up',
      help: 'Whether the database answered; at 0 the figures that come from it are left out',
      registers: [metrics.registry],
    });
    metrics.registry.registerMetric(
      new Gauge({
        name: 'consigliere_database_connections',
        help: 'Connections of this process to the database that are busy or free, and requests and work waiting for one',
        labelNames: ['state'],
        registers: [],
        collect() {
          for (const [state, count] of Object.entries(db.connections)) this.set({ state }, count);
        },
      }),
    );
    if (replica.isConfigured) this.showReplica(replica);
  }

  /** Declares a figure that is read from the database at each scrape. */
  declare(figure: Figure): void {
    const { name, help, label } = figure;
    const gauge = new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.metrics.registry],
    });
    this.#figures.push({ figure, gauge });
  }

  /** Everything, in the text format of Prometheus. It answers without the database as well. */
  async scrape(): Promise<string> {
    const look = this.look();
    const limit = new AbortController();
    await Promise.race([
      look.done,
      sleep(LOOK_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => undefined),
    ]);
    limit.abort();
    if (!look.ended) this.show(undefined);
    return this.metrics.registry.metrics();
  }

  /** One at a time: a database that does not answer is not asked again meanwhile. */
  private look(): { ended: boolean; done: Promise<void> } {
    const now = performance.now();
    const last = this.#looked;
    if (last && (!last.ended || now - last.at < FRESH_MS)) return last;
    const look = { at: now, ended: false, done: Promise.resolve() };
    look.done = this.read().finally(() => {
      look.ended = true;
    });
    this.#looked = look;
    return look;
  }

  private showReplica(replica: Replica): void {
    const { registry } = this.metrics;
    registry.registerMetric(
      new Counter({
        name: 'consigliere_replica_reads_total',
        help: 'Reads that a replica may answer, by who did: the replica, or the primary since the replica was down, late, or behind the caller',
        labelNames: ['outcome'],
        registers: [],
        collect() {
          this.reset();
          for (const [outcome, count] of Object.entries(replica.reads)) this.inc({ outcome }, count);
        },
      }),
    );
    registry.registerMetric(
      new Gauge({
        name: 'consigliere_replica_lag_seconds',
        help: 'How late the replica is at most; left out while that is not known',
        registers: [],
        collect() {
          this.remove();
          const { lagSeconds } = replica;
          if (lagSeconds !== undefined) this.set(lagSeconds);
        },
      }),
    );
  }

  private async read(): Promise<void> {
    const answers = await this.db
      .systemAll(this.#figures.map(({ figure }) => figure.statement()))
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'the figures of the database could not be read');
        return undefined;
      });
    this.show(answers);
  }

  private show(answers: readonly unknown[][] | undefined): void {
    this.#database.set(answers === undefined ? 0 : 1);
    for (const [index, { figure, gauge }] of this.#figures.entries()) {
      const rows = (answers?.[index] ?? []) as FigureRow[];
      // What is not there any more must not stay at its last value, nor be told as 0.
      if (figure.label === undefined) gauge.remove();
      else gauge.reset();
      for (const { label, value } of rows) {
        if (figure.label === undefined) gauge.set(Number(value));
        else gauge.set({ [figure.label]: String(label) }, Number(value));
      }
    }
  }
}
