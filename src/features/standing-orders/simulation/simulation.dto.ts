import { type Caller, seesWholeWorkspace } from '../../../platform/auth/caller.js';
import type { Id } from '../../../platform/kernel/ids.js';
import type { Effect } from '../standing-order.js';
import type { Simulated, SimulatedChange } from './replay.js';
import type { SimulationEntity } from './simulation.entity.js';

/** A work packet, or an action request, that would have been decided otherwise. */
export class SimulatedChangeView {
  /** The id of the work packet, or of the action request. @example 'pkt_01kerr41v8d3f5h7k9m1p3r5t7' */
  workPacketId!: string;
  /** Of an action request: the tool that was asked for. @example 'crm.refund' */
  tool?: string;
  /**
   * Of an action request: the name of the agent that asked; null where it asked with a member's own token.
   * @example 'invoice-bot'
   */
  agent?: string | null;
  /** What it does, in one line; null where the work packet no longer exists. @example 'Email Jane about the delivery' */
  title!: string | null;
  /**
   * Whom it reaches outside; null where it reaches nobody, or the tool does not say whom.
   * @example 'jane@acme.example'
   */
  recipient!: string | null;
  /** How it was decided. @example 'require_approval' */
  from!: Effect;
  /** How it would have been decided with the order. @example 'allow' */
  to!: Effect;
  /** Why, for a person. @example 'The standing order "Delivery mail to Acme" allows this work packet.' */
  why!: string;
}

/**
 * What an order would have done to the decisions of the past, in numbers. They are about work packets and action requests that the caller may see:
 * owner and admin are told of all that the order decides, others of those of its team, or of none.
 */
export class SimulationNumbers {
  /**
   * How many work packets and action requests that the caller may see were decided before, each counted once with its newest decision.
   * @example 412
   */
  considered!: number;
  /** How many of them would have gone without asking a person, or would no longer have been denied. @example 37 */
  relaxed!: number;
  /**
   * How many more of them the order allows although a person is asked anyway, because their directive was handed in for approval.
   * @example 12
   */
  stillAsks!: number;
  /** How many of them it would have decided more strictly. @example 0 */
  escalated!: number;
  /** How many of them it would have left as they were. @example 363 */
  unchanged!: number;
  /** How many of those that it relaxes cannot be taken back. @example 37 */
  relaxedIrreversible!: number;
  /**
   * SHA-256 in hex, of the version and every decision; the same facts have the same hash.
   * @example '3b5d2f8a6c1e4b7d9f0a2c4e6b8d0f1a3c5e7b9d1f3a5c7e9b0d2f4a6c8e0b1d'
   */
  hash!: string;
  /** When it was computed, Unix milliseconds. @example 1768209600000 */
  computedAt!: number;
}

/** The simulation of a version of a standing order, as the order shows it. */
export class SimulationSummary extends SimulationNumbers {
  /** The id of the simulation. @example 'sim_01kerr2n7q9s1v3x5z7b9d1f3h' */
  simulationId!: Id<'sim'>;
  /** The version of the order that was simulated. @example 1 */
  version!: number;
}

/** A simulation. */
export class SimulationView extends SimulationSummary {
  /**
   * Why it would have changed nothing, in a sentence; null where it would have changed something.
   * @example 'None of the 412 meets every condition: the nearest 12 differ only in the subject.'
   */
  why!: string | null;
  /** The work packets and action requests that would have been decided otherwise and that the caller may see, at most 100: what cannot be taken back first, newest first. */
  changes!: SimulatedChangeView[];
  /** How many more of them there are that are not named. @example 0 */
  changesOmitted!: number;
}

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
