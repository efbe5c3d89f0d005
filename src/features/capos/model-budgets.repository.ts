import { Injectable } from '@nestjs/common';
import type { Actor, Tier } from '../../platform/auth/caller.js';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { CapoRole } from '../terms/index.js';

/** What a budget is counted in. */
export type BudgetUnit = 'amount' | 'tokens';

/** What the model calls of a workspace may use a day unless its settings say otherwise. */
export interface BudgetTerms {
  unit: BudgetUnit;
  byTier: Readonly<Record<Tier, Record<BudgetUnit, number>>>;
}

/** What one call uses, or may use at most. */
export interface ModelUse {
  amount: number;
  tokens: number;
}

/** How the budget of a day stands once a call is counted in it. */
export interface ReservedBudget {
  day: string;
  budget: number;
  /** By calls that have ended. */
  used: number;
  /** By calls under way. */
  reserved: number;
  granted: boolean;
  warn: boolean;
  zone: string;
  nextDayAt: number;
}

/** What model calls may use on a day, and have used: the counting is one function of the database for all processes. */
@Injectable()
export class ModelBudgets {
  constructor(private readonly db: Db) {}

  async of(scope: Scope, { unit, byTier }: BudgetTerms): Promise<number> {
    const [row] = await this.db.read<{ budget: number }>(
      scope,
      'select app.model_budget_of($1, $2, $3::jsonb)::float8 as budget',
      [scope.workspaceId, unit, JSON.stringify(byTier)],
    );
    return row!.budget;
  }

  /**
   * Sets aside what a call may use at most, in the open transaction.
   * @param until when it counts as used, whatever has become of the call
   */
  async reserve(
    workspaceId: string,
    { unit, byTier }: BudgetTerms,
    most: ModelUse,
    { at, until }: { at: number; until: number },
  ): Promise<ReservedBudget> {
    const [row] = await this.db.query<ReservedBudget>(
      `select day::text, budget::float8, used::float8, reserved::float8, granted, warn, zone, app.ms(next_day_at) as next_day_at
       from app.reserve_model_usage($1, $2, $3, $4::jsonb, $5, $6, $7)`,
      [workspaceId, new Date(at), unit, JSON.stringify(byTier), most.amount, most.tokens, new Date(until)],
    );
    return row!;
  }

  /** Counts what the call has used instead of what was set aside, in the open transaction. */
  async settle(
    { workspaceId, day }: { workspaceId: string; day: string },
    { unit, byTier }: BudgetTerms,
    most: ModelUse,
    used: ModelUse,
  ): Promise<Pick<ReservedBudget, 'budget' | 'used' | 'warn'>> {
    const [row] = await this.db.query<Pick<ReservedBudget, 'budget' | 'used' | 'warn'>>(
      `select budget::float8, used::float8, warn from app.settle_model_usage($1, $2, $3, $4::jsonb, $5, $6, $7, $8)`,
      [
        workspaceId,
        day,
        unit,
        JSON.stringify(byTier),
        Number((used.amount - most.amount).toFixed(6)),
        used.tokens - most.tokens,
        most.amount,
        most.tokens,
      ],
    );
    return row!;
  }
}

@Injectable()
export class PausedCapos {
  constructor(private readonly db: Db) {}

  /** The capos that wait; for a caller that sends it along with statements of its own. */
  statement(workspaceId: string): Statement {
    return {
      text: 'select capo, paused_by, paused_at from paused_capos where workspace_id = $1',
      values: [workspaceId],
    };
  }

  /** False when it was paused already. */
  async pause(workspaceId: string, capo: CapoRole, by: Actor, at: number): Promise<boolean> {
    const rows = await this.db.query(
      `insert into paused_capos (workspace_id, capo, paused_by, paused_at) values ($1, $2, $3::jsonb, $4)
       on conflict (workspace_id, capo) do nothing returning 1`,
      [workspaceId, capo, JSON.stringify(by), new Date(at)],
    );
    return rows.length > 0;
  }

  /** False when it was not paused. */
  async resume(workspaceId: string, capo: CapoRole): Promise<boolean> {
    const rows = await this.db.query(
      'delete from paused_capos where workspace_id = $1 and capo = $2 returning 1',
      [workspaceId, capo],
    );
    return rows.length > 0;
  }
}
