import { setImmediate as turnForOthers } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Caller, mayRead } from '../../platform/auth/caller.js';
import { SigningKeys } from '../../platform/receipts/signing-keys.js';
import {
  type ChainFault,
  type ChainPoint,
  ChainVerifier,
  pointFault,
} from '../../platform/receipts/verify-chain.js';
import type { ChainVerification, Comparison, HaltView } from './audit.dto.js';
import { type DispatchInHalt, type Halt, HaltProof } from './halt-proof.js';
import { ReceiptChains } from './receipt-chains.repository.js';

/** What someone kept outside of this service's database. */
export interface KeptElsewhere {
  head?: ChainPoint;
  /** The id of a signing key. */
  keyId?: string;
}

/** The result from the stored chain alone, for callers who see every team. */
type Verified = Omit<ChainVerification, 'keptElsewhere' | 'halts'> & {
  halts: readonly Halt[];
  keyIds: string[];
};

/** Receipts a page: about 5 ms of work between two turns of everyone else. */
const PAGE = 500;
/** A signature takes 0.1 ms to check, and a quiet workspace has a checkpoint for every receipt. */
const SIGNATURES_A_TURN = 50;
/** The first faults tell where it began. */
const KEPT_FAULTS = 100;

/**
 * Verifies the whole chain of a workspace as it stood when the call came, page by page and without a transaction that
 * stays open. One verification of a workspace runs at a time; who asks meanwhile shares the one after it, so that no
 * number of callers makes more than that of work.
 */
@Injectable()
export class VerifyWorkspaceChain {
  readonly #running = new Map<string, Promise<Verified>>();
  readonly #next = new Map<string, Promise<Verified>>();

  constructor(
    private readonly chains: ReceiptChains,
    private readonly keys: SigningKeys,
  ) {}

  /** @param kept what was kept elsewhere, from an event or an earlier answer: it must still be there */
  async execute(caller: Caller, kept: KeptElsewhere = {}): Promise<ChainVerification> {
    const { workspaceId } = caller;
    const { keyIds, halts, ...verification } = await this.shared(workspaceId);
    const faults: ChainFault[] = [];
    if (kept.head) {
      const stored = await this.chains.hashAt(workspaceId, kept.head.seq);
      const fault = pointFault(kept.head, stored, verification.head.seq);
      if (fault) faults.push(fault);
    }
    const head = compared(kept.head, faults.length === 0);
    const isKeyTrusted = kept.keyId !== undefined && keyIds.includes(kept.keyId);
    if (kept.keyId !== undefined && !isKeyTrusted) faults.push(unknownKey(kept.keyId));
    return {
      ...verification,
      halts: halts.toReversed().map((halt) => haltView(halt, caller)),
      ok: verification.ok && faults.length === 0,
      faults: [...faults, ...verification.faults].slice(0, KEPT_FAULTS),
      keptElsewhere: {
        head,
        key: compared(kept.keyId, isKeyTrusted),
        notice: noticeOf(head, kept.head?.seq),
      },
    };
  }

  private shared(workspaceId: string): Promise<Verified> {
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

  private run(workspaceId: string): Promise<Verified> {
    const run = this.verify(workspaceId).finally(() => this.#running.delete(workspaceId));
    this.#running.set(workspaceId, run);
    return run;
  }

  private async verify(workspaceId: string): Promise<Verified> {
    const { head, lastSeq, checkpoint } = await this.chains.ends(workspaceId);
    const keys = await this.keys.examine();
    const verifier = new ChainVerifier(keys.trusted);
    for (const fault of keys.faults) verifier.untrusted(fault);
    const proof = new HaltProof();
    const inHalt: ChainFault[] = [];
    for (let after = 0; after < lastSeq;) {
      const { receipts, checkpoints } = await this.chains.stretch(workspaceId, after, lastSeq, PAGE);
      for (const [index, one] of checkpoints.entries()) {
        verifier.checkpoint(one);
        if (index % SIGNATURES_A_TURN === SIGNATURES_A_TURN - 1) await turnForOthers();
      }
      for (const receipt of receipts) {
        const content = verifier.receipt(receipt);
        const dispatch = content && proof.receipt(receipt.seq, content);
        if (dispatch && inHalt.length < KEPT_FAULTS) inHalt.push(dispatchedInHalt(dispatch));
      }
      after = receipts.at(-1)?.seq ?? lastSeq;
    }
    // Beyond the last receipt the newest checkpoint says all that the others could.
    if (checkpoint && checkpoint.seq > lastSeq) verifier.checkpoint(checkpoint);
    verifier.finish(head);
    const { checked } = verifier;
    const faults = [...verifier.faults, ...inHalt].slice(0, KEPT_FAULTS);
    const checkpoints = { checked: verifier.checkpoints, latest: checkpoint };
    const keyIds = keys.trusted.map(({ keyId }) => keyId);
    const { halts, count: haltCount } = proof;
    return { ok: faults.length === 0, checked, head, faults, checkpoints, halts, haltCount, keyIds };
  }
}

/** Packets of teams that the caller does not see are counted and not named. */
function haltView(halt: Halt, caller: Caller): HaltView {
  const seen = <T extends { teamId: string | null }>(packets: readonly T[]) =>
    packets.filter(({ teamId }) => mayRead(caller, teamId)).map(({ teamId: _teamId, ...packet }) => packet);
  return {
    ...halt,
    dispatchesBetween: seen(halt.dispatchesBetween),
    unconfirmed: seen(halt.unconfirmed),
  };
}

/** Like every fault it says nothing of what the receipt is about. */
function dispatchedInHalt({ seq, killedSeq }: DispatchInHalt): ChainFault {
  const message = `Receipt ${seq} records a dispatch that began while the kill switch of receipt ${killedSeq} was engaged.`;
  return { kind: 'dispatch_in_halt', seq, message };
}

function compared(given: unknown, matches: boolean): Comparison {
  if (given === undefined) return 'not_given';
  return matches ? 'matches' : 'differs';
}

function unknownKey(keyId: string): ChainFault {
  const message = `The signing key ${keyId}, which was kept elsewhere, is not among the trusted keys of this service.`;
  return { kind: 'untrusted_key', seq: 0, message, keyId };
}

/** What nobody can tell from the database alone, said plainly (CONTRACT, Webhooks, last lines). */
function noticeOf(head: Comparison, seq: number | undefined): string {
  switch (head) {
    case 'not_given':
      return (
        'No head kept elsewhere was compared. A chain that was rewritten by someone who has both the database and the ' +
        'signing key, or whose checkpoints were removed before it was signed again, cannot be told from the original: ' +
        'give heldSeq and heldHash of a receiptHead that you kept, from an event or from GET /context.'
      );
    case 'matches':
      return `The chain contains the head kept elsewhere, so it was not rewritten up to receipt ${seq}. Later receipts need a later head.`;
    case 'differs':
      return 'The chain does not contain the head kept elsewhere; the first fault says how they differ.';
  }
}
