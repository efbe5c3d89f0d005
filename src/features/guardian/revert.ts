import type { Actor } from '../../platform/auth/caller.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { GuardianEntity } from './guardian.entity.js';
import type { RevertAnswer, RevertStep } from './revert.dto.js';
import type { RevertEntity } from './revert.entity.js';

/** What somebody asks a revert to do. */
export interface WantedRevert {
  reason: string | null;
  dryRun: boolean;
  /** The guardian's epoch, as the caller has seen it. */
  epoch?: number | undefined;
  /** Left out: the last one before the kill. */
  checkpointId?: string | undefined;
}

/** What a revert answers, before its lines have the titles of their work packets. */
export interface RevertOutcome extends Omit<RevertAnswer, 'plan'> {
  plan: readonly Omit<RevertStep, 'title'>[];
}

/** So many lines of a plan stand in an answer. */
export const PLAN_LINES = 1_000;

/** A revert that is over as soon as it is written, unless it says otherwise. */
export function newRevert(
  revert: Pick<RevertEntity, 'revertId' | 'workspaceId' | 'mode' | 'reason' | 'receiptId'> & {
    by: Actor;
    at: number;
  } & Partial<Pick<RevertEntity, 'status' | 'checkpointId' | 'plan' | 'killedAt' | 'guardianEpoch'>>,
): RevertEntity {
  const { by, at, ...rest } = revert;
  const { status = 'done', checkpointId = null, plan = [], killedAt = null, guardianEpoch = null } = rest;
  return {
    ...rest,
    status,
    checkpointId,
    plan,
    killedAt,
    guardianEpoch,
    createdBy: by,
    createdAt: at,
    endedAt: status === 'done' ? at : null,
  };
}

/**
 * @throws InvalidTransition while a revert undoes work packets, which has to end, or be stopped, before another begins; or after a
 * kill that the caller has not seen
 */
export function requireRevertible(
  { mode, epoch }: Pick<GuardianEntity, 'mode' | 'epoch'>,
  wanted: Pick<WantedRevert, 'epoch'>,
): void {
  if (mode === 'recovering') {
    throw new InvalidTransition({
      message:
        'A revert is undoing work packets. Wait until it has ended, or engage the kill switch to stop it, then revert again.',
      details: { mode },
    });
  }
  if ((wanted.epoch ?? epoch) === epoch) return;
  throw new InvalidTransition({
    message: `The kill switch was engaged again: the epoch is ${epoch} and not ${wanted.epoch}. Read the guardian, then revert that.`,
    details: { mode, epoch },
  });
}
