import { type Caller, seesWholeWorkspace } from '../../../platform/auth/caller.js';
import type { SimulatedChange, Simulated } from './replay.js';
import type { SimulationNumbers, SimulationSummary, SimulationView } from './simulation.dto.js';
import type { SimulationEntity } from './simulation.entity.js';

/** What a simulation comes to, for one circle of readers. */
type Numbers = Omit<SimulationNumbers, 'computedAt'>;

/** The numbers of a simulation as its order keeps them. */
export interface KeptSimulation extends SimulationSummary {
  /** Of the work packets that everybody sees who sees the order. Missing in what an older version of the program kept. */
  own?: Numbers;
}

/** Who reads decides what they are told: the whole takes somebody who sees the whole workspace. */
type Reader = Pick<Caller, 'role'>;

export function keptSimulationOf(simulation: SimulationEntity): KeptSimulation {
  const { simulationId, version, computedAt, own } = simulation;
  return { simulationId, version, ...numbersOf(simulation), computedAt, own: numbersOf(own) };
}

/** What the order shows this reader of its simulation; null where that is not known. */
export function summaryFor(reader: Reader, kept: KeptSimulation | null): SimulationSummary | null {
  if (kept === null) return null;
  const { own, ...whole } = kept;
  // Versions of the program before 1766000000070 did not count what asks anyway.
  if (seesWholeWorkspace(reader)) return { ...whole, stillAsks: whole.stillAsks ?? 0 };
  return own ? { ...whole, ...own, stillAsks: own.stillAsks ?? 0 } : null;
}

export function simulationViewOf(simulation: SimulationEntity, caller: Reader): SimulationView {
  const { simulationId, version, computedAt, own } = simulation;
  const { changes, changesOmitted, ...numbers } = replayedFor(caller, { whole: simulation, own });
  const { why } = seesWholeWorkspace(caller) ? simulation : own;
  return { simulationId, version, ...numbers, computedAt, why: why ?? null, changes, changesOmitted };
}

/** What this reader is told of a replay. Work packets that they may not read are neither named nor counted. */
export function replayedFor(
  reader: Reader,
  { whole, own }: Pick<Simulated, 'own'> & { whole: Numbers & { changes: SimulatedChange[] } },
): Numbers & Pick<SimulationView, 'changes' | 'changesOmitted'> {
  const told = seesWholeWorkspace(reader) ? whole : own;
  return {
    ...numbersOf(told),
    changes: told.changes.map(({ teamId: _teamId, ...change }) => change),
    changesOmitted: told.relaxed + told.escalated - told.changes.length,
  };
}

/**
 * For a receipt, which everybody reads who sees the order. `wholeHash` binds it to what the simulation came to as a whole; it goes
 * over ids that only those can know who see their work packets, so it tells nobody else anything.
 */
export function receiptFactsOf({ simulationId, version, hash, own }: SimulationEntity) {
  return { simulationId, version, ...numbersOf(own), wholeHash: hash };
}

function numbersOf({
  considered,
  relaxed,
  stillAsks,
  escalated,
  unchanged,
  relaxedIrreversible,
  hash,
}: Numbers): Numbers {
  return { considered, relaxed, stillAsks, escalated, unchanged, relaxedIrreversible, hash };
}
