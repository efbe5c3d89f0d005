import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { insertOf, selectOf } from '../../../platform/database/table.js';
import type { StandingOrderEntity } from '../standing-order.entity.js';
import type { EndOfHistory } from './history.reader.js';
import { keptSimulationOf } from './simulation.dto.js';
import { SimulationEntity } from './simulation.entity.js';

/** So many of an order are kept; the hash of one that an activation went by stands in its receipt. */
const KEPT = 10;

@Injectable()
export class Simulations {
  constructor(private readonly db: Db) {}

  /** The simulation of this version of an order over all that was decided until then. */
  async find(
    { workspaceId, standingOrderId, version }: StandingOrderEntity,
    { until, zone }: EndOfHistory,
  ): Promise<SimulationEntity | undefined> {
    const key = { workspaceId, standingOrderId, version, untilDecisionId: until, zone };
    return this.db.findOne({ workspaceId, teamIds: 'all' }, SimulationEntity, key);
  }

  /** Adds the first simulation of an order that the open transaction adds. */
  add(simulation: SimulationEntity): void {
    this.db.insert(SimulationEntity, simulation);
  }

  /**
   * Adds it for an order that exists, in a transaction of its own, unless another process was faster; the order shows its numbers from
   * now on. Answers the one that is kept.
   */
  async keep(simulation: SimulationEntity): Promise<SimulationEntity> {
    const { workspaceId, standingOrderId, version, untilDecisionId, zone } = simulation;
    const key = { workspaceId, standingOrderId, version, untilDecisionId, zone };
    const { text, values } = insertOf(SimulationEntity, simulation);
    return this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      const [, [kept]] = (await this.db.unit.batch([
        { text: `${text} on conflict do nothing`, values: values! },
        selectOf(SimulationEntity, key),
      ])) as [unknown, [SimulationEntity]];
      this.db.write(
        'update standing_orders set simulation = $4 where workspace_id = $1 and standing_order_id = $2 and version = $3',
        [workspaceId, standingOrderId, version, JSON.stringify(keptSimulationOf(kept))],
      );
      this.letGoOfOlder(simulation);
      return kept;
    });
  }

  private letGoOfOlder({ workspaceId, standingOrderId }: SimulationEntity): void {
    this.db.write(
      `delete from simulations where workspace_id = $1 and standing_order_id = $2 and simulation_id < (
         select simulation_id from simulations where workspace_id = $1 and standing_order_id = $2
         order by simulation_id desc offset ${KEPT - 1} limit 1)`,
      [workspaceId, standingOrderId],
    );
  }
}
