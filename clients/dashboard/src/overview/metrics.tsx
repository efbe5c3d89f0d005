import type { WorkspaceMetricsView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';
import { Loaded } from '../ui/list.js';
import { stateOf } from '../ui/states.js';

const WINDOWS = { h24: 'in 24 hours', d7: 'in 7 days', d30: 'in 30 days' } as const;
const MINUTE_MS = 60_000;

/** Sums of three windows, the directives by their status, and how fast people decide. */
export function Metrics() {
  const metrics = useQuery({ queryKey: ['figures', 'metrics'], queryFn: () => client.metrics.get() });
  return (
    <section aria-label="Metrics">
      <h2>Metrics of all your teams</h2>
      <Loaded query={metrics}>
        {({ revenue, cost, directives, approvals, signalsScored }) => (
          <>
            <dl className="figures">
              <Sums name="Revenue" sums={revenue} />
              <Sums name="Cost of models" sums={cost} />
              <Figure name="Waiting for a decision" value={approvals.pending} />
              <Figure name="Median time to a decision" value={spanOf(approvals.medianDecisionMs)} />
              <Figure name="Expired in 30 days" value={approvals.expired} />
              <Figure name="Signals with a score" value={signalsScored} />
            </dl>
            <h3>Directives by status</h3>
            <dl className="figures">
              {Object.entries(directives).map(([status, count]) => (
                <Figure key={status} name={stateOf(status)} value={count} />
              ))}
            </dl>
          </>
        )}
      </Loaded>
    </section>
  );
}

function Sums({ name, sums }: { name: string; sums: WorkspaceMetricsView['revenue'] }) {
  const { currency, byCurrency } = sums;
  const others = Object.entries(byCurrency) as [string, Record<keyof typeof WINDOWS, number>][];
  const money = (amount: number, of: string) =>
    amount.toLocaleString(undefined, { style: 'currency', currency: of });
  return (Object.keys(WINDOWS) as (keyof typeof WINDOWS)[]).map((span) => (
    <Figure
      key={span}
      name={`${name} ${WINDOWS[span]}`}
      value={[money(sums[span], currency), ...others.map(([other, of]) => money(of[span], other))].join(
        ' and ',
      )}
    />
  ));
}

export function Figure({ name, value }: { name: string; value: string | number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function spanOf(ms: number | null): string {
  if (ms === null) return 'none yet';
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 1) return 'a minute';
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}
