import type { ActionResult, Compensation, NeededInput, OutsideTargets } from '../capos/index.js';
import type { CapoRole, Priority, Reversibility } from '../terms/index.js';

/** A work packet as its soundness is looked at, with the directive that asked for it. */
export interface SoundnessTarget {
  packet: {
    capo: CapoRole;
    engine: string;
    title: string;
    kind: string;
    actionType: string;
    target: string | null;
    params: Record<string, unknown>;
    needsInput: readonly NeededInput[];
    reversibility: Reversibility;
    compensation: Compensation | null;
    /** What its execution answered, or why that failed. */
    result: ActionResult | null;
    /** Null until it was carried out. */
    executedAt: number | null;
    leverageScore: number;
    multipliers: Readonly<Record<string, number>>;
    rationale: string;
  };
  /** What the workspace reaches outside now. */
  targets: OutsideTargets;
  directive: { text: string; priority: Priority; context: Record<string, unknown> };
}
