import { Revenue } from '../revenue/revenue.js';
import { DailyReport } from './daily-report.js';
import { FamilyReport } from './family-report.js';
import { Metrics } from './metrics.js';
import { Tiles } from './tiles.js';
import { Waiting } from './waiting.js';

/** The results: figures, what waits, the report of the day with what comes next, and what each capo did. */
export function Boss({ teamId, date }: { teamId: string | undefined; date: string | undefined }) {
  return (
    <>
      <Tiles teamId={teamId} />
      <Waiting teamId={teamId} />
      <Revenue teamId={teamId} />
      <DailyReport date={date} />
      <FamilyReport teamId={teamId} />
      <Metrics />
    </>
  );
}
