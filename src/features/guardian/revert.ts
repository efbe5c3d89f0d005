import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import type { Statement } from '../../platform/database/batch.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { GuardianEntity, RevertEntity, RevertStepEntity, StepStatus } from './guardian.entity.js';
import type { RevertAnswer, RevertStep } from './revert.dto.js';

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

/** A line of a plan, as far as it says what undoes a work packet. */
export type PlanLine = Pick<RevertStepEntity, 'workPacketId' | 'compensation'>;

/** How the step of a work packet would end, and why, in a sentence. */
export type Obstacle = { status: Extract<StepStatus, 'failed' | 'not_possible'>; reason: string };

/**
 * Work that a revert undoes. The guardian knows no kind of work; the feature whose work it is registers itself here, and does
 * the work `packet.compensate` on each packet of a revert's plan in turn.
 */
export interface Undoable {
  /**
   * What was carried out behind this receipt, the newest first, at most `limit` rows of `work_packet_id`, `team_id`,
   * `reversibility`, `compensation` and `seq`: the number of the receipt of its execution, null while it is being carried out.
   */
  carriedOutStatement(workspaceId: string, since: { receiptSeq: number; limit: number }): Statement;
  /** By work packet, for people to read; one that the caller may not see is not in it. */
  titles(scope: Scope, workPacketIds: readonly string[]): Promise<Map<string, string>>;
  /** What keeps work packets from being undone as things stand; one of which nothing of the kind is known is not in it. */
  obstacles(scope: Scope, lines: readonly PlanLine[]): Promise<Map<string, Obstacle>>;
}

@Injectable()
export class UndoableWork {
  #registered: Undoable | undefined;

  register(work: Undoable): void {
    this.#registered = work;
  }

  carriedOutStatement(...args: Parameters<Undoable['carriedOutStatement']>): Statement {
    return this.work.carriedOutStatement(...args);
  }

  obstacles(...args: Parameters<Undoable['obstacles']>): ReturnType<Undoable['obstacles']> {
    return this.work.obstacles(...args);
  }

  /** These lines of a plan with the titles of their work packets. */
  async titled<Line extends { workPacketId: string }>(
    scope: Scope,
    lines: readonly Line[],
  ): Promise<(Line & { title: string | null })[]> {
    if (lines.length === 0) return [];
    const titles = await this.work.titles(
      scope,
      lines.map(({ workPacketId }) => workPacketId),
    );
    return lines.map((line) => ({ ...line, title: titles.get(line.workPacketId) ?? null }));
  }

  private get work(): Undoable {
    if (!this.#registered) throw new Error('no feature has registered work that can be undone');
    return this.#registered;
  }
}
