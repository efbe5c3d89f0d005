import { setImmediate as turnForOthers } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { SigningKeys } from '../../platform/receipts/signing-keys.js';
import { type ChainPoint, ChainVerifier, pointFault } from '../../platform/receipts/verify-chain.js';
import type { ChainVerification } from './audit-feed.dto.js';
import { ReceiptChains } from './receipt-chains.repository.js';

/** Receipts a page: about 5 ms of work between two turns of everyone else. */
const PAGE = 500;
/** A signature takes 0.1 ms to check, and a quiet workspace has a checkpoint for every receipt. */
const SIGNATURES_A_TURN = 50;

/**
 * Verifies the whole chain of a workspace as it stood when the call came, page by page and without a transaction that
 * stays open. One verification of a workspace runs at a time; who asks meanwhile shares the one after it, so that no
 * number of callers makes more than that of work.
 */
@Injectable()
export class VerifyWorkspaceChain {
  readonly #running = new Map<string, Promise<ChainVerification>>();
  readonly #next = new Map<string, Promise<ChainVerification>>();

  constructor(
    private readonly chains: ReceiptChains,
    private readonly keys: SigningKeys,
  ) {}

  /** @param held a head that was noted elsewhere, from an event or a report: it must still be in the chain */
  async execute(workspaceId: string, held?: ChainPoint): Promise<ChainVerification> {
    const verification = await this.shared(workspaceId);
    if (!held) return verification;
    const stored = await this.chains.hashAt(workspaceId, held.seq);
    const fault = pointFault(held, stored, verification.head.seq);
    return fault
      ? { ...verification, ok: false, faults: [fault, ...verification.faults].slice(0, 100) }
      : verification;
  }

  private shared(workspaceId: string): Promise<ChainVerification> {
    const waiting = this.#next.get(workspaceId);
    if (waiting) return waiting;
    const running = this.#running.get(workspaceId);
    if (!running) return this.run(workspaceId);
    const begin = () => {
      this.#next.delete(workspaceId);
      return this.run(workspaceId);
    };
    const next = running.then(begin, begin);
    this.#next.set(workspaceId, next);
    return next;
  }

  private run(workspaceId: string): Promise<ChainVerification> {
    const run = this.verify(workspaceId).finally(() => this.#running.delete(workspaceId));
    this.#running.set(workspaceId, run);
    return run;
  }

  private async verify(workspaceId: string): Promise<ChainVerification> {
    const { head, lastSeq, checkpoint } = await this.chains.ends(workspaceId);
    const verifier = new ChainVerifier(await this.keys.list());
    for (let after = 0; after < lastSeq;) {
      const { receipts, checkpoints } = await this.chains.stretch(workspaceId, after, lastSeq, PAGE);
      for (const [index, one] of checkpoints.entries()) {
        verifier.checkpoint(one);
        if (index % SIGNATURES_A_TURN === SIGNATURES_A_TURN - 1) await turnForOthers();
      }
      for (const receipt of receipts) verifier.receipt(receipt);
      after = receipts.at(-1)?.seq ?? lastSeq;
    }
    // Beyond the last receipt the newest checkpoint says all that the others could.
    if (checkpoint && checkpoint.seq > lastSeq) verifier.checkpoint(checkpoint);
    verifier.finish(head);
    const { faults, checked } = verifier;
    const checkpoints = { checked: verifier.checkpoints, latest: checkpoint };
    return { ok: faults.length === 0, checked, head, faults, checkpoints };
  }
}
