import type { KpiTile } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';
import { Loaded } from '../ui/list.js';

const TITLES = {
  revenueThisWeek: 'Revenue this week',
  packetsExecuted: 'Carried out in 7 days',
  approvalsPending: 'Approvals waiting',
  costLast7Days: 'Cost of models in 7 days',
  evalPassRate: 'Evals passed',
  connectorHealth: 'Healthy connectors',
} as const;

const WIDTH = 120;
const HEIGHT = 32;

/** Six figures with their last 30 days. */
export function Tiles({ teamId }: { teamId: string | undefined }) {
  const kpi = useQuery({
    queryKey: ['figures', 'kpi', teamId],
    queryFn: () => client.kpi.get(teamId ? { teamId } : {}),
  });
  return (
    <Loaded query={kpi}>
      {({ tiles }) => (
        <ul className="tiles">
          {(Object.keys(TITLES) as (keyof typeof TITLES)[]).map((name) => (
            <Tile key={name} title={TITLES[name]} tile={tiles[name]} />
          ))}
        </ul>
      )}
    </Loaded>
  );
}

function Tile({ title, tile: { value, unit, changePercent, sparkline } }: { title: string; tile: KpiTile }) {
  return (
    <li>
      <span className="quiet">{title}</span>
      <strong>{value === null ? 'None yet' : figureOf(value, unit)}</strong>
      <Sparkline days={sparkline} label={inWords(sparkline, unit)} />
      {changePercent !== null && (
        <span className="quiet">
          {changePercent > 0 ? '+' : ''}
          {changePercent} % to the time before
        </span>
      )}
    </li>
  );
}

/** A line of 30 days; a day of which nothing is known leaves a gap. */
function Sparkline({ days, label }: { days: readonly (number | null)[]; label: string }) {
  const known = days.filter((day) => day !== null);
  const low = Math.min(0, ...known);
  const high = Math.max(...known, low + 1);
  const x = (at: number) => (at / (days.length - 1)) * WIDTH;
  const y = (day: number) => HEIGHT - 2 - ((day - low) / (high - low)) * (HEIGHT - 4);
  const path = days
    .map((day, at) =>
      day === null
        ? ''
        : `${at === 0 || days[at - 1] === null ? 'M' : 'L'}${x(at).toFixed(1)} ${y(day).toFixed(1)}`,
    )
    .join('');
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={path} />
    </svg>
  );
}

/** What the line shows, for those who do not see it. */
function inWords(days: readonly (number | null)[], unit: string): string {
  const known = days.filter((day) => day !== null);
  if (known.length === 0) return 'No data for the last 30 days.';
  const figure = (day: number) => figureOf(day, unit);
  const today = days.at(-1) ?? null;
  return `Last 30 days: lowest ${figure(Math.min(...known))}, highest ${figure(Math.max(...known))}, today ${
    today === null ? 'not known' : figure(today)
  }.`;
}

const COUNTED = new Set(['packets', 'approvals', 'percent']);

function figureOf(value: number, unit: string): string {
  if (unit === 'percent') return `${value} %`;
  return COUNTED.has(unit)
    ? value.toLocaleString()
    : value.toLocaleString(undefined, { style: 'currency', currency: unit });
}
