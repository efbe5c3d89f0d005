import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Statement } from '../../platform/database/batch.js';
import type { BuyerChange } from './buyer.js';

@Injectable()
export class Buyers {
  constructor(private readonly db: Db) {}

  /** The known metrics of a buyer (`KnownMetric`), for the holder of the workspace's persona. */
  metricsStatement(workspaceId: string, buyerId: string): Statement {
    return {
      text: 'select metric, confidence, fired_at from buyer_metrics where workspace_id = $1 and buyer_id = $2',
      values: [workspaceId, buyerId],
    };
  }

  /**
   * Writes what an update changes, of its buyer and of what all buyers add up to. The sums give up the value before for
   * the value after, as decimals, so that they stay what adding all up would give.
   */
  change(buyerId: string, { buyer, buyerBefore, metric, metricBefore }: BuyerChange): void {
    const { workspaceId } = this.db.unit.scope;
    this.db.write(
      `insert into buyers (workspace_id, buyer_id, confidence, top_gap, updated_at) values ($1, $2, $3, $4, $5)
       on conflict (workspace_id, buyer_id) do update
         set confidence = excluded.confidence, top_gap = excluded.top_gap, updated_at = excluded.updated_at`,
      [workspaceId, buyerId, buyer.confidence, buyer.topGap, new Date(buyer.updatedAt)],
    );
    this.db.write(
      `insert into buyer_metrics (workspace_id, buyer_id, metric, confidence, fired_at) values ($1, $2, $3, $4, $5)
       on conflict (workspace_id, buyer_id, metric) do update
         set confidence = excluded.confidence, fired_at = excluded.fired_at`,
      [workspaceId, buyerId, metric.metric, metric.confidence, new Date(metric.firedAt)],
    );
    this.db.write(
      `insert into persona_metrics as m (workspace_id, metric, buyers, confidence_sum)
       values ($1, $2, $3, $4::numeric - $5::numeric)
       on conflict (workspace_id, metric) do update
         set buyers = m.buyers + excluded.buyers, confidence_sum = m.confidence_sum + excluded.confidence_sum`,
      [workspaceId, metric.metric, metricBefore === null ? 1 : 0, metric.confidence, metricBefore ?? 0],
    );
    this.db.write(
      `update personas set buyers = buyers + $2, confidence_sum = confidence_sum + $3::numeric - $4::numeric
       where workspace_id = $1`,
      [workspaceId, buyerBefore === null ? 1 : 0, buyer.confidence, buyerBefore ?? 0],
    );
  }
}
