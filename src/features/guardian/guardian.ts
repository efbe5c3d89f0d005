import type { GuardianMode } from '../terms/terms.js';
import type { GuardianView } from './guardian.dto.js';
import type { GuardianEntity } from './guardian.entity.js';
import type { WorkStanding } from './halting.js';

/** Modes in which nothing leaves, whatever was approved: killed, recovering from it, or only observing. */
export function letsNothingLeave(mode: GuardianMode): boolean {
  return mode === 'killed' || mode === 'recovering' || mode === 'observe';
}

export function viewOf(guardian: GuardianEntity, standing: WorkStanding): GuardianView {
  const { mode, epoch, killedAt, killedBy, reason, lastCheckpointId } = guardian;
  return { mode, ...standing, epoch, killedAt, killedBy, reason, lastCheckpointId };
}
