import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { COST_CURRENCY, DIRECTIVE_STATUSES, type DirectiveStatus } from '../terms/index.js';
import type { Sums, WindowSums, WorkspaceMetricsView } from './kpi.dto.js';

/** How many of the newest decisions the median is taken of: as telling as all of a month, and never slower. */
const MEDIAN_OF = 1_000;

/** Revenue and signals are counted as in `GET /context`, so that the two never contradict each other. */
const METRICS = /* sql */ `
select
  (select currency from workspaces where workspace_id = $1) as currency,
  (select coalesce(json_object_agg(currency, json_build_object('h24', coalesce(d1.amount, 0), 'd7',
      coalesce(d7.amount, 0), 'd30', d30.amount)), '{}')
    from app.revenue_since($1, $2::timestamptz - interval '30 days') d30
    left join app.revenue_since($1, $2::timestamptz - interval '7 days') d7 using (currency)
    left join app.revenue_since($1, $2::timestamptz - interval '1 day') d1 using (currency)) as revenue,
  coalesce((select n from app.tally_of($1, 'signals') where key = 'scored'), 0) as signals_scored,
  (select coalesce(json_object_agg(status, count), '{}') from (
    select split_part(key, ' ', 1) as status, sum(n) as count from app.tally_of($1, 'directives') group by 1) s)
    as directives,
  json_build_object(
    'pending', (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
      where split_part(key, ' ', 1) in ('pending', 'ready')),
    'medianDecisionMs', (select round(percentile_cont(0.5) within group (order by ms)) from (
      select extract(epoch from decided_at - requested_at) * 1000 as ms from approvals
      where workspace_id = $1 and status in ('approved', 'rejected', 'changes_requested')
        and decided_at > $2::timestamptz - interval '30 days'
      order by decided_at desc limit ${MEDIAN_OF}) d),
    'expired', (select coalesce(sum(n), 0) from app.tally_since($1, 'approvals_expired', $2::timestamptz - interval '30 days'))
      + (select count(*) from approvals where workspace_id = $1 and status = 'expired'
        and decided_at > $2::timestamptz - interval '30 days'
        and decided_at < app.next_quarter($2::timestamptz - interval '30 days'))) as approvals,
  (select coalesce(json_object_agg(currency, json_build_object('h24', coalesce(d1.amount, 0), 'd7',
      coalesce(d7.amount, 0), 'd30', d30.amount)), '{}')
    from app.cost_since($1, $2::timestamptz - interval '30 days') d30
    left join app.cost_since($1, $2::timestamptz - interval '7 days') d7 using (currency)
    left join app.cost_since($1, $2::timestamptz - interval '1 day') d1 using (currency)) as cost`;

type SumsByCurrency = Readonly<Record<string, WindowSums>>;

const NOTHING: WindowSums = { h24: 0, d7: 0, d30: 0 };

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
      cost: sumsIn(COST_CURRENCY, cost),
      directives: { ...NONE, ...directives },
    };
  }
}

/** The sums in this currency, the others beside them: no rate of exchange is known here. */
function sumsIn(currency: string, all: SumsByCurrency): Sums {
  const { [currency]: own = NOTHING, ...byCurrency } = all;
  return { currency, ...own, byCurrency };
}
