import type { ReceiptContent } from '../../platform/receipts/receipt.js';

/** What a receipt has to tell for what is open to be followed through it. */
type FollowedReceipt = Pick<ReceiptContent, 'action' | 'details' | 'entity' | 'directiveId'>;

/** What receipts show to be open, from the first of a chain up to the last that was read. */
export interface OpenFigures {
  mode: string;
  /** Approvals that wait for a person. */
  pending: number;
  /** Work packets that wait for a person. */
  pendingMoves: number;
  /** Directives that have not ended and wait for no person. */
  queued: number;
}

interface OpenApproval {
  directiveId: string | null;
  /** Work packets of its draft; none until the draft is there. */
  packets: number;
}

const OPENS = [
  'directive.created',
  'directive.retried',
  'directive.override_asked',
  'directive.sending_again',
];
const ENDS = [
  'directive.executed',
  'directive.failed',
  'directive.rejected',
  'directive.expired',
  'directive.cancelled',
  'directive.reverted',
];
const DECIDES = [
  'approval.approved',
  'approval.answered',
  'approval.rejected',
  'approval.changes_requested',
  'approval.expired',
  'approval.cancelled',
];

/**
 * Follows what is open through the receipts of a workspace, in their order. Memory grows with what is open, not with the
 * receipts.
 */
export class OpenWork {
  /** False as soon as a receipt is missing: what is open cannot be told any more. */
  isWhole = true;
  #lastSeq = 0;
  #mode = 'guardrailed';
  #modeBeforeKill = 'guardrailed';
  readonly #directives = new Set<string>();
  readonly #drafted = new Map<string, number>();
  readonly #approvals = new Map<string, OpenApproval>();
  readonly #approvalOf = new Map<string, string>();

  /** The next receipt. */
  receipt(seq: number, receipt: FollowedReceipt): void {
    if (seq !== this.#lastSeq + 1) this.isWhole = false;
    this.#lastSeq = seq;
    const { action } = receipt;
    if (action.startsWith('guardian.')) this.guardian(receipt);
    else if (action.startsWith('approval.')) this.approval(receipt);
    else if (action.startsWith('directive.')) this.directive(receipt);
    // What an agent from outside asked for ends with the approval that waits for a person.
    else if (action === 'action.cancelled') this.#approvals.delete(String(receipt.details['approvalId']));
  }

  get figures(): OpenFigures {
    const waiting = new Set<string | null>();
    let pendingMoves = 0;
    for (const { directiveId, packets } of this.#approvals.values()) {
      waiting.add(directiveId);
      pendingMoves += packets;
    }
    const queued = [...this.#directives].filter((directiveId) => !waiting.has(directiveId)).length;
    return { mode: this.#mode, pending: this.#approvals.size, pendingMoves, queued };
  }

  /** The ids of the approvals that wait. */
  get pendingIds(): string[] {
    return [...this.#approvals.keys()];
  }

  private guardian({ action, details }: FollowedReceipt): void {
    switch (action) {
      case 'guardian.killed':
        // A kill while a revert undoes work leads back to the mode of the kill before it.
        if (this.#mode !== 'recovering') this.#modeBeforeKill = this.#mode;
        this.#mode = 'killed';
        break;
      case 'guardian.mode_changed':
        this.#mode = String(details['mode']);
        break;
      case 'guardian.recovering':
        this.#mode = 'recovering';
        break;
      case 'guardian.reverted':
        this.#mode =
          typeof details['guardianMode'] === 'string' ? details['guardianMode'] : this.#modeBeforeKill;
        break;
    }
  }

  private directive({ action, directiveId, details }: FollowedReceipt): void {
    if (directiveId === null) return;
    if (OPENS.includes(action)) this.#directives.add(directiveId);
    else if (ENDS.includes(action)) {
      this.#directives.delete(directiveId);
      this.#drafted.delete(directiveId);
    } else if (action === 'directive.drafted') this.#drafted.set(directiveId, numberIn(details['packets']));
    if (action === 'directive.recalled' || action === 'directive.override_asked') {
      const { approvalId, workPacketIds } = details;
      this.attach(String(approvalId), Array.isArray(workPacketIds) ? workPacketIds.length : 0);
    }
  }

  private approval({ action, entity, directiveId, details }: FollowedReceipt): void {
    // An approval that ends with its directive has the receipt of the directive.
    const named = entity.type === 'approval' ? entity.id : details['approvalId'];
    const approvalId =
      typeof named === 'string'
        ? named
        : directiveId === null
          ? undefined
          : this.#approvalOf.get(directiveId);
    if (approvalId === undefined) return;
    if (action === 'approval.requested') {
      this.#approvals.set(approvalId, { directiveId, packets: 0 });
      if (directiveId !== null) this.#approvalOf.set(directiveId, approvalId);
    } else if (action === 'approval.ready') {
      this.attach(approvalId, directiveId === null ? 0 : (this.#drafted.get(directiveId) ?? 0));
    } else if (action === 'approval.edited' && directiveId !== null) {
      this.attach(approvalId, numberIn(details['packets']));
    } else if (DECIDES.includes(action)) {
      this.#approvals.delete(approvalId);
      if (directiveId !== null && this.#approvalOf.get(directiveId) === approvalId)
        this.#approvalOf.delete(directiveId);
    }
  }

  private attach(approvalId: string, packets: number): void {
    const approval = this.#approvals.get(approvalId);
    if (approval) approval.packets = packets;
  }
}

function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
