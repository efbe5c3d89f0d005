import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DIRECTIVE_STATUSES, type DirectiveStatus } from '../terms/terms.js';
import { type SumsByCurrency, sumsIn } from './sums.js';
import type { WorkspaceMetricsView } from './workspace-metrics.dto.js';

/** Revenue and signals are counted as in `GET /context`, so that the two never contradict each other. */
const METRICS = /* sql */ `
select
  (select currency from workspaces where workspace_id = $1) as currency,
  (select coalesce(json_object_agg(currency, sums), '{}') from (
    select currency, json_build_object(
      'h24', coalesce(sum(amount) filter (where occurred_at > $2::timestamptz - interval '1 day'), 0),
      'd7', coalesce(sum(amount) filter (where occurred_at > $2::timestamptz - interval '7 days'), 0),
      'd30', sum(amount)) as sums
    from revenue_events
    where workspace_id = $1 and occurred_at > $2::timestamptz - interval '30 days' group by currency) r) as revenue,
  (select count(*) from signals where workspace_id = $1 and score is not null) as signals_scored,
  (select coalesce(json_object_agg(status, count), '{}') from (
    select status, count(*) from directives where workspace_id = $1 group by status) s) as directives,
  (select json_build_object(
      'pending', count(*) filter (where status = 'pending'),
      'medianDecisionMs', round(percentile_cont(0.5) within group (
        order by extract(epoch from decided_at - requested_at) * 1000)
        filter (where status in ('approved', 'rejected', 'changes_requested'))),
      'expired', count(*) filter (where status = 'expired'))
    from approvals
    where workspace_id = $1 and (status = 'pending' or decided_at > $2::timestamptz - interval '30 days')) as approvals,
  (select coalesce(json_object_agg(currency, sums), '{}') from (
    select currency, json_build_object(
      'h24', coalesce(sum(amount) filter (where started_at > $2::timestamptz - interval '1 day'), 0),
      'd7', coalesce(sum(amount) filter (where started_at > $2::timestamptz - interval '7 days'), 0),
      'd30', sum(amount)) as sums
    from (select started_at, (cost->>'amount')::numeric as amount, cost->>'currency' as currency from directives
      where workspace_id = $1 and started_at > $2::timestamptz - interval '30 days') d
    where amount <> 0 group by currency) c) as cost`;

type Row = Omit<WorkspaceMetricsView, 'directives' | 'revenue' | 'cost'> & {
  directives: Partial<Record<DirectiveStatus, number>>;
  currency: string;
  revenue: SumsByCurrency;
  cost: SumsByCurrency;
};

const NONE = Object.fromEntries(DIRECTIVE_STATUSES.map((status) => [status, 0])) as Record<
  DirectiveStatus,
  number
>;

@Injectable()
export class WorkspaceMetricsReader {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  async read(scope: Scope): Promise<WorkspaceMetricsView> {
    const values = [scope.workspaceId, new Date(this.clock.now())];
    const [row] = await this.db.read<Row>(scope, METRICS, values);
    const { currency, revenue, cost, directives, ...counted } = row!;
    return {
      ...counted,
      revenue: sumsIn(currency, revenue),
      cost: sumsIn(currency, cost),
      directives: { ...NONE, ...directives },
    };
  }
}
