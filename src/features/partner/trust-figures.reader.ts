import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Metric } from './confidence-update.js';

/** The section `trustIntelligence` of a report (SPECIFICATION, Daily Report). */
export interface TrustFigures {
  /** Confidence updates that came in. */
  scoresCompleted: number;
  /** 0 to 1: the mean of the confidences they told; null without any. */
  averageScore: number | null;
  /** The metric, beside `overall`, whose confidences were the lowest on average. */
  topGap: Metric | null;
}

const TRUST_FIGURES = /* sql */ `
select coalesce(sum(scores), 0)::bigint as scores_completed, sum(total) / nullif(sum(scores), 0) as average_score,
  (array_agg(metric order by total / scores, metric) filter (where metric <> 'overall'))[1] as top_gap
from (
  select metric, count(*) as scores, sum(new_confidence) as total from partner_events
  where workspace_id = $1 and received_at >= $2 and received_at < $3 group by metric) m`;

@Injectable()
export class TrustFiguresReader {
  constructor(private readonly db: Db) {}

  /** What came in from `from` up to, and without, `to`: Unix milliseconds, by the time of receipt as in the receipts. */
  async read(scope: Scope, from: number, to: number): Promise<TrustFigures> {
    const [figures] = await this.db.read<TrustFigures>(scope, TRUST_FIGURES, [
      scope.workspaceId,
      new Date(from),
      new Date(to),
    ]);
    return figures!;
  }
}
