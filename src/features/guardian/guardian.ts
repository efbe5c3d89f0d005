import type { Actor } from '../../platform/auth/caller.js';
import type { GuardianMode } from '../terms/terms.js';
import type { GuardianView } from './guardian.dto.js';
import type { GuardianEntity } from './guardian.entity.js';
import type { HeldBack } from './halting.js';

/** Published when the kill switch is engaged: what is under way for the workspace is aborted in every process. */
export const KILLED_TOPIC = 'guardian.killed';

/** Who decides by the standing orders, where no person does. */
export const GUARDIAN: Actor = { type: 'system', id: 'guardian', name: 'The guardian', via: 'policy' };

/** Modes in which nothing leaves, whatever was approved: killed, recovering from it, or only observing. */
export function letsNothingLeave(mode: GuardianMode): boolean {
  return mode === 'killed' || mode === 'recovering' || mode === 'observe';
}

export function viewOf(guardian: GuardianEntity, heldBack: HeldBack): GuardianView {
  const { mode, epoch, killedAt, killedBy, reason, lastCheckpointId } = guardian;
  return { mode, ...heldBack, epoch, killedAt, killedBy, reason, lastCheckpointId };
}
