import { Revenue } from '../revenue/revenue.js';
import { DailyReport } from './daily-report.js';
import { FamilyReport } from './family-report.js';
import { Tiles } from './tiles.js';

/** The results: figures, the report of the day with what comes next, and what each capo did. */
export function Boss({ teamId, date }: { teamId: string | undefined; date: string | undefined }) {
  return (
    <>
      <Tiles teamId={teamId} />
      <Revenue teamId={teamId} />
      <DailyReport date={date} />
      <FamilyReport teamId={teamId} />
    </>
  );
}
