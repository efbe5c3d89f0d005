import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { type NewReceipt, Receipts } from '../../platform/receipts/receipts.js';
import { throughOutage } from '../../platform/work/through-outage.js';
import { Signals } from '../records/index.js';
import { type Cost, NO_COST } from '../terms/index.js';
import { type Draft, RunnerFailed, type RunnerFailure } from './briefing.js';
import {
  type BudgetTerms,
  type BudgetUnit,
  ModelBudgets,
  type ModelUse,
  type ReservedBudget,
} from './model-budgets.repository.js';
import { ModelChargeEntity } from './capos.entity.js';

/** What was paid for a model. */
export interface Paid {
  /** Null where no model was asked, or nobody can tell which. */
  engine: Draft['engine'] | null;
  cost: Cost;
}

const NOTHING: Paid = { engine: null, cost: NO_COST };

/** By the error with which the work failed: any error will do, a defect of ours too, since the model has been paid by then. */
const paidForErrors = new WeakMap<object, Paid>();

/** Notes what was paid for before work failed with this error; answers the error, to be thrown. */
export function failedAfterPaying(error: unknown, paid: Paid): unknown {
  if (typeof error === 'object' && error !== null) paidForErrors.set(error, paid);
  return error;
}

/** What was paid for before work failed with this error. */
export function paidBefore(error: unknown): Paid {
  const noted = typeof error === 'object' && error !== null ? paidForErrors.get(error) : undefined;
  if (noted) return noted;
  return error instanceof RunnerFailed ? { engine: null, cost: error.cost } : NOTHING;
}

export function isPaid({ cost }: Pick<Paid, 'cost'>): boolean {
  return cost.tokensIn + cost.tokensOut > 0;
}

/** US dollars, or tokens. */
const BY_TIER: BudgetTerms['byTier'] = {
  free: { amount: 1, tokens: 500_000 },
  pro: { amount: 10, tokens: 5_000_000 },
  enterprise: { amount: 100, tokens: 50_000_000 },
};

/** Calls under way end within the time limit of a model, and most of them use far less than they set aside. */
const CALLS_UNDER_WAY_MS = 15_000;

/** The longest wait before the next look: raising the budget during an attempt cannot shorten it. */
const MAX_WAIT_MS = 600_000;

/** How long after the time limit of a call it may be written down what the call has used, through an outage. */
const SETTLED_AFTER_MS = 180_000;

/** What was set aside for one call. */
interface Reservation {
  /**
   * Counts what the call has used instead. It never throws: the call has been made and paid for, and where this cannot be
   * written, what was set aside stays counted.
   */
  settle(used: Cost): Promise<void>;
}

type Outcome = 'answered' | RunnerFailure | 'error';

const OUTCOMES: Record<Outcome, true> = {
  answered: true,
  provider_unavailable: true,
  rate_limited: true,
  unauthorized: true,
  request_rejected: true,
  model_budget_exceeded: true,
  invalid_output: true,
  refused: true,
  timeout: true,
  out_of_memory: true,
  crashed: true,
  aborted: true,
  error: true,
};

/**
 * The budget of a workspace for model calls, by the day of its zone (docs/decisions/0009): in US dollars where the prices of
 * the model are known, in tokens where they are not. What a call may cost at most is set aside before it is made, so calls
 * made at once, by any process, cannot use up more than there is. What a process had set aside that ends during a
 * call counts as used. What came of each question is counted here, too.
 */
@Injectable()
export class ModelBudget {
  readonly #terms: BudgetTerms;
  readonly #longestMs: number;
  readonly #count: (outcome: Outcome) => void;
  readonly #dollars: (amount: number) => void;
  readonly #tokens: (amount: number) => void;

  constructor(
    private readonly db: Db,
    private readonly budgets: ModelBudgets,
    private readonly clock: Clock,
    private readonly signals: Signals,
    private readonly logger: PinoLogger,
    private readonly receipts: Receipts,
    config: Config,
    metrics: Metrics,
  ) {
    const unit = config.modelPriceInput === undefined ? 'tokens' : 'amount';
    this.#terms = { unit, byTier: BY_TIER };
    this.#longestMs = config.modelTimeoutSeconds * 1_000 + SETTLED_AFTER_MS;
    this.#count = metrics.outcomes(
      'consigliere_model_calls_total',
      'Questions that this process asked the model, by what came of them',
      Object.keys(OUTCOMES) as Outcome[],
    );
    this.#dollars = metrics.sum(
      'consigliere_model_cost_usd_total',
      'What questions of this process to the model cost, in US dollars; 0 while its prices are unknown',
    );
    this.#tokens = metrics.sum(
      'consigliere_model_tokens_total',
      'Tokens that the model read and wrote for this process',
    );
  }

  /** What the model calls of the workspace may use on one day. */
  async limit(scope: Scope): Promise<{ limit: number; unit: BudgetUnit }> {
    return { limit: await this.budgets.of(scope, this.#terms), unit: this.#terms.unit };
  }

  /** @throws RunnerFailed when there is not so much left */
  async reserve(workspaceId: string, most: Cost): Promise<Reservation> {
    const scope = { workspaceId, teamIds: 'all' as const };
    const now = this.clock.now();
    const reserved = await this.db.transaction(scope, async () => {
      const times = { at: now, until: now + this.#longestMs };
      const counted = await this.budgets.reserve(workspaceId, this.#terms, useOf(most), times);
      if (counted.warn) this.warn(counted, most);
      return counted;
    });
    if (!reserved.granted) throw this.exceeded(reserved, most, now);
    return { settle: (used) => this.settled(workspaceId, reserved.day, most, used) };
  }

  /**
   * Keeps what models cost that belongs to no directive: answers in the chat, sections of reports. The receipt and the amount that
   * `GET /metrics` and `GET /kpi` add up are written together, so that they never differ; in the open transaction, which sees
   * every team.
   */
  charge(receipt: NewReceipt, paid: Paid): void {
    const { engine, cost } = paid;
    const receiptId = this.receipts.append({ ...receipt, details: { ...receipt.details, engine, cost } });
    if (!isPaid(paid)) return;
    this.db.insert(ModelChargeEntity, {
      workspaceId: this.db.unit.scope.workspaceId,
      receiptId,
      teamId: null,
      capo: receipt.capo ?? null,
      ...cost,
      chargedAt: this.clock.now(),
    });
  }

  /** Counts what a question cost, for Prometheus; failed ones cost as well. */
  paid({ amount, tokensIn, tokensOut }: Cost): void {
    this.#dollars(amount);
    this.#tokens(tokensIn + tokensOut);
  }

  answered(): void {
    this.#count('answered');
  }

  failed(failure: unknown): void {
    this.#count(failure instanceof RunnerFailed ? failure.code : 'error');
  }

  private async settled(workspaceId: string, day: string, most: Cost, used: Cost): Promise<void> {
    try {
      await throughOutage(() => this.settle(workspaceId, day, most, used));
    } catch (error) {
      this.logger.error({ err: error, workspaceId, day }, 'what a model call has used could not be counted');
    }
  }

  private async settle(workspaceId: string, day: string, most: Cost, used: Cost): Promise<void> {
    await this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      const about = { workspaceId, day };
      const settled = await this.budgets.settle(about, this.#terms, useOf(most), useOf(used));
      if (settled.warn) this.warn(settled);
    });
  }

  /** @param wanted by the call that was refused */
  private warn({ used, budget }: Pick<ReservedBudget, 'used' | 'budget'>, wanted?: Cost): void {
    const most = wanted ? this.counted(wanted) : 0;
    this.signals.raise({
      type: 'agent',
      severity: 'warning',
      title:
        most > budget
          ? `A model call can cost ${this.spoken(most)}, and today's budget is ${this.spoken(budget)}`
          : `Model calls have used ${this.spoken(used)} of today's ${this.spoken(budget)}`,
      body: `When the budget is used up, directives wait for the next day, or until an admin raises modelBudget in the settings.`,
      teamId: null,
      entity: null,
    });
  }

  private exceeded(reserved: ReservedBudget, most: Cost, now: number): RunnerFailed {
    const { waitMs, message } = this.refusal(reserved, this.counted(most), now);
    const wait = Math.min(MAX_WAIT_MS, Math.max(0, waitMs));
    return new RunnerFailed('model_budget_exceeded', message, true, undefined, wait);
  }

  private refusal({ budget, used, reserved, zone, nextDayAt }: ReservedBudget, wanted: number, now: number) {
    if (wanted > budget) {
      return {
        message: `A single model call for this can cost ${this.spoken(wanted)}, more than the budget of a whole day (${this.spoken(budget)}); it waits until an admin raises modelBudget in the settings.`,
        waitMs: MAX_WAIT_MS,
      };
    }
    if (used + wanted <= budget) {
      return {
        message: `Model calls under way have set aside what is left of today's budget (${this.spoken(used)} used and ${this.spoken(reserved)} set aside, of ${this.spoken(budget)}); it goes on when they have ended.`,
        waitMs: CALLS_UNDER_WAY_MS,
      };
    }
    return {
      message: `The budget for model calls is used up for today (${this.spoken(used)} of ${this.spoken(budget)}); it goes on at midnight (${zone}), or when an admin raises modelBudget in the settings.`,
      waitMs: nextDayAt - now,
    };
  }

  private counted(cost: Cost): number {
    return useOf(cost)[this.#terms.unit];
  }

  private spoken(quantity: number): string {
    const number = (digits: number) => new Intl.NumberFormat('en', { maximumFractionDigits: digits });
    return this.#terms.unit === 'amount'
      ? `${number(6).format(quantity)} USD`
      : `${number(0).format(quantity)} tokens`;
  }
}

function useOf({ amount, tokensIn, tokensOut }: Cost): ModelUse {
  return { amount, tokens: tokensIn + tokensOut };
}
