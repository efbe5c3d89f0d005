import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';

/** How much work a kill stopped, by the state it was stopped in. */
export interface HaltedCounts {
  queued: number;
  executing: number;
  sending: number;
  /** Action requests that can never be consumed any more. */
  voided: number;
}

/** A work packet, or an action request, that had been handed out when the kill came; whether it was done is not known yet. */
export interface Unconfirmed {
  workPacketId?: string;
  actionRequestId?: string;
  teamId: string | null;
  /** Unix milliseconds. */
  since: number;
}

export interface Halted {
  halted: HaltedCounts;
  unconfirmed: Unconfirmed[];
}

/** The kill or the revert itself. */
export interface GuardianAct {
  /** Unix milliseconds. */
  at: number;
  receiptId: string;
}

/** A work packet that goes on with a revert. */
export interface ResumedPacket {
  workPacketId: string;
  reversibility: string;
  compensation: null;
  status: 'planned' | 'done';
  reason: null;
}

/**
 * Work that the kill switch stops and a revert starts again. The guardian knows no kind of work; each feature that
 * has some registers it here and is called within the transaction of the kill or the revert.
 */
export interface Haltable {
  halt(workspaceId: string, act: GuardianAct): Promise<Halted>;
  /** This and the two that follow are left out where nothing that was halted goes on. */
  resume?(workspaceId: string, act: GuardianAct): Promise<ResumedPacket[]>;
  /** What {@link resume} would let go on. */
  halted?(workspaceId: string): Promise<ResumedPacket[]>;
  /** The mode lets packets leave again, or for the first time. */
  releaseHeldBack?(): void;
  heldBack(scope: Scope, at: number): Promise<HeldBack>;
}

/** What the guardian holds back just now, for `GET /guardian`. */
export interface HeldBack {
  /** Approvals that wait for a person, whatever they are about. */
  pending: number;
  /** Work packets denied in the last 24 hours. */
  blocked24h: number;
}

@Injectable()
export class HaltableWork {
  readonly #registered: Haltable[] = [];

  register(work: Haltable): void {
    this.#registered.push(work);
  }

  async halt(workspaceId: string, act: GuardianAct): Promise<Halted> {
    const total: Halted = { halted: { queued: 0, executing: 0, sending: 0, voided: 0 }, unconfirmed: [] };
    for (const work of this.#registered) {
      const { halted, unconfirmed } = await work.halt(workspaceId, act);
      total.halted.queued += halted.queued;
      total.halted.executing += halted.executing;
      total.halted.sending += halted.sending;
      total.halted.voided += halted.voided;
      total.unconfirmed.push(...unconfirmed);
    }
    return total;
  }

  async resume(workspaceId: string, act: GuardianAct): Promise<ResumedPacket[]> {
    const resumed: ResumedPacket[] = [];
    for (const work of this.#registered) resumed.push(...((await work.resume?.(workspaceId, act)) ?? []));
    return resumed;
  }

  async halted(workspaceId: string): Promise<ResumedPacket[]> {
    const halted: ResumedPacket[] = [];
    for (const work of this.#registered) halted.push(...((await work.halted?.(workspaceId)) ?? []));
    return halted;
  }

  releaseHeldBack(): void {
    for (const work of this.#registered) work.releaseHeldBack?.();
  }

  async heldBack(scope: Scope, at: number): Promise<HeldBack> {
    const all = await Promise.all(this.#registered.map((work) => work.heldBack(scope, at)));
    return {
      pending: all.reduce((sum, one) => sum + one.pending, 0),
      blocked24h: all.reduce((sum, one) => sum + one.blocked24h, 0),
    };
  }
}
