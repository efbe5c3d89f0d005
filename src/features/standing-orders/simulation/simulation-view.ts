import { type Caller, mayRead } from '../../../platform/auth/caller.js';
import type { SimulationSummary, SimulationView } from './simulation.dto.js';
import type { Replayed } from './replay.js';
import type { SimulationEntity } from './simulation.entity.js';

/** What everybody who may read the order may know of it. */
export function summaryOfSimulation({
  simulationId,
  version,
  considered,
  relaxed,
  escalated,
  unchanged,
  relaxedIrreversible,
  hash,
  computedAt,
}: SimulationSummary): SimulationSummary {
  return {
    simulationId,
    version,
    considered,
    relaxed,
    escalated,
    unchanged,
    relaxedIrreversible,
    hash,
    computedAt,
  };
}

export function simulationViewOf(
  simulation: SimulationSummary & Pick<SimulationEntity, 'changes'>,
  caller: Caller,
): SimulationView {
  return { ...summaryOfSimulation(simulation), ...namedChanges(simulation, caller) };
}

/** An order of the whole workspace changes work packets of teams: they are counted, and named to those who may read them. */
export function namedChanges(
  { changes, relaxed, escalated }: Pick<Replayed, 'changes' | 'relaxed' | 'escalated'>,
  caller: Caller,
): Pick<SimulationView, 'changes' | 'changesOmitted'> {
  const visible = changes.filter(({ teamId }) => mayRead(caller, teamId));
  return {
    changes: visible.map(({ workPacketId, from, to, why }) => ({ workPacketId, from, to, why })),
    changesOmitted: relaxed + escalated - visible.length,
  };
}
