import { z } from 'zod';
import type { Actor } from '../../platform/auth/caller.js';
import { defineError } from '../../platform/kernel/define-error.js';
import { text, texts } from '../../platform/kernel/error-details.js';
import type { GuardianMode } from '../terms/index.js';
import type { GuardianView } from './guardian.dto.js';
import type { GuardianFacts } from './guardians.repository.js';
import type { HeldBack } from './halting.js';

export const PolicyDenied = defineError('POLICY_DENIED', 422, 'A standing order forbids this.', {
  details: z.object({
    explanation: texts('Why, in sentences.', ['The standing order Quiet weekends forbids it.']).optional(),
    actionRequestId: text('The action request.', 'act_01khqx3v2gs0a0k4y6t1r8m5cd').optional(),
  }),
});

/** Published when the kill switch is engaged: what is under way for the workspace is aborted in every process. */
export const KILLED_TOPIC = 'guardian.killed';

/** Who decides by the standing orders, where no person does. */
export const GUARDIAN: Actor = { type: 'system', id: 'guardian', name: 'The guardian', via: 'policy' };

/** Modes in which nothing leaves, whatever was approved: killed, recovering from it, or only observing. */
export function letsNothingLeave(mode: GuardianMode): boolean {
  return mode === 'killed' || mode === 'recovering' || mode === 'observe';
}

/** A kill holds, or what came before it is being undone: work waits for the end of that. */
export function isHalted(mode: GuardianMode): boolean {
  return mode === 'killed' || mode === 'recovering';
}

export function viewOf(guardian: GuardianFacts, heldBack: HeldBack): GuardianView {
  const { mode, epoch, killedAt, killedBy, reason, lastCheckpointId } = guardian;
  return { mode, ...heldBack, epoch, killedAt, killedBy, reason, lastCheckpointId };
}
