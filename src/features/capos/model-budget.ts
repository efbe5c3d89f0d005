import { Injectable } from '@nestjs/common';
import { SYSTEM, type Tier } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Signals } from '../signals/signals.repository.js';
import type { Cost } from '../terms/terms.js';
import { RunnerFailed } from './briefing.js';

/** What the model calls of a workspace may use a day unless its settings say otherwise: US dollars, or tokens. */
const BY_TIER: Readonly<Record<Tier, { amount: number; tokens: number }>> = {
  free: { amount: 1, tokens: 500_000 },
  pro: { amount: 10, tokens: 5_000_000 },
  enterprise: { amount: 100, tokens: 50_000_000 },
};

/** What was set aside for one call. */
export interface Reservation {
  /** Counts what the call has used instead. */
  settle(used: Cost): Promise<void>;
}

interface Reserved {
  day: string;
  budget: number;
  used: number;
  granted: boolean;
  warn: boolean;
  zone: string;
  nextDayAt: number;
}

/**
 * The budget of a workspace for model calls, by the day of its zone (docs/decisions/0009): in US dollars where the prices of
 * the model are known, in tokens where they are not. What a call may cost at most is set aside before it is made, so calls
 * made at once, by whatever process, cannot use up more than there is. A process that ends during a call leaves what it
 * had set aside counted until the day ends.
 */
@Injectable()
export class ModelBudget {
  readonly #unit: 'amount' | 'tokens';

  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly signals: Signals,
    config: Config,
  ) {
    this.#unit = config.modelPriceInput === undefined ? 'tokens' : 'amount';
  }

  /** @throws RunnerFailed when there is not so much left */
  async reserve(workspaceId: string, most: Cost): Promise<Reservation> {
    const scope = { workspaceId, teamIds: 'all' as const };
    const now = this.clock.now();
    const reserved = await this.db.transaction(scope, async () => {
      const [row] = await this.db.query<Reserved>(
        `select day::text, budget::float8, used::float8, granted, warn, zone, app.ms(next_day_at) as next_day_at
         from app.reserve_model_usage($1, $2, $3, $4::jsonb, $5, $6)`,
        [workspaceId, new Date(now), this.#unit, JSON.stringify(BY_TIER), most.amount, tokensOf(most)],
      );
      if (row!.warn) this.warn(row!);
      return row!;
    });
    if (!reserved.granted) throw this.exceeded(reserved, most, now);
    return { settle: (used) => this.settle(workspaceId, reserved.day, most, used) };
  }

  private async settle(workspaceId: string, day: string, most: Cost, used: Cost): Promise<void> {
    await this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      const [row] = await this.db.query<Pick<Reserved, 'budget' | 'used' | 'warn'>>(
        `select budget::float8, used::float8, warn from app.settle_model_usage($1, $2, $3, $4::jsonb, $5, $6)`,
        [
          workspaceId,
          day,
          this.#unit,
          JSON.stringify(BY_TIER),
          Number((used.amount - most.amount).toFixed(6)),
          tokensOf(used) - tokensOf(most),
        ],
      );
      if (row!.warn) this.warn(row!);
    });
  }

  private warn({ used, budget }: Pick<Reserved, 'used' | 'budget'>): void {
    this.signals.raise({
      type: 'agent',
      severity: 'warning',
      title: `Model calls have used ${this.spoken(used)} of today's ${this.spoken(budget)}`,
      body: `When the budget is used up, directives wait for the next day, or until an admin raises modelBudget with PUT /settings.`,
      score: null,
      source: SYSTEM,
      teamId: null,
      capo: null,
      entity: null,
    });
  }

  private exceeded({ budget, used, zone, nextDayAt }: Reserved, most: Cost, now: number): RunnerFailed {
    const wanted = this.#unit === 'amount' ? most.amount : tokensOf(most);
    if (wanted > budget) {
      return new RunnerFailed(
        'model_budget_exceeded',
        `A model call for this could cost ${this.spoken(wanted)}, and the budget for a whole day is ${this.spoken(budget)}; an admin can raise modelBudget with PUT /settings.`,
        false,
      );
    }
    return new RunnerFailed(
      'model_budget_exceeded',
      `The budget for model calls is used up for today (${this.spoken(used)} of ${this.spoken(budget)}); it goes on at midnight (${zone}), or when an admin raises modelBudget with PUT /settings.`,
      true,
      undefined,
      Math.max(0, nextDayAt - now),
    );
  }

  private spoken(quantity: number): string {
    const number = (digits: number) => new Intl.NumberFormat('en', { maximumFractionDigits: digits });
    return this.#unit === 'amount'
      ? `${number(6).format(quantity)} USD`
      : `${number(0).format(quantity)} tokens`;
  }
}

function tokensOf({ tokensIn, tokensOut }: Cost): number {
  return tokensIn + tokensOut;
}
