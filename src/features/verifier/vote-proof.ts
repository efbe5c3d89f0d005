import { ROLES } from '../../platform/auth/caller.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { type Electorate, isNamed, strictestElectorate } from '../standing-orders/evaluate.js';

/** An approval that waits, as far as its receipts tell. */
interface OpenApproval {
  directiveId: string | null;
  electorate: Electorate;
  /** The content that each member has approved. */
  votes: Map<string, unknown>;
  /** Who asked for it or has edited it, and who made the tokens that they used. */
  authors: Set<string>;
}

const ENDS = ['approval.rejected', 'approval.changes_requested', 'approval.expired', 'approval.cancelled'];

/**
 * Counts again who has approved what needs several people, or certain ones, from the receipts alone. What an approval needs is
 * what the decisions come to when they are made again, and not what its receipts say. Memory grows with what is open.
 */
export class VoteProof {
  readonly #approvals = new Map<string, OpenApproval>();
  /** By work packet or action request, where one approval by anybody is not enough. */
  readonly #electorates = new Map<string, Partial<Electorate>>();
  /** The work packets of the present draft, by directive, where one of them is among those. */
  readonly #drafts = new Map<string, string[]>();

  /** Receipts are missing: of what is open nothing can be told any more. */
  incomplete(): void {
    this.#approvals.clear();
  }

  /** A decision that was made again; without terms where it could not be. */
  decided(workPacketId: string, terms: Partial<Electorate>): void {
    if (terms.quorum === undefined && terms.approvers === undefined) this.#electorates.delete(workPacketId);
    else this.#electorates.set(workPacketId, terms);
  }

  /** The next receipt, behind its decisions; answers what is wrong with it, as the end of a sentence. */
  receipt({ action, entity, actor, directiveId, details }: ReceiptContent): string[] {
    const decided = idsIn(details['decisions']);
    if (action === 'directive.drafted' && directiveId !== null) {
      if (decided.some((id) => this.#electorates.has(id))) this.#drafts.set(directiveId, decided);
      else this.#drafts.delete(directiveId);
    }
    const approvalId = entity.type === 'approval' ? entity.id : String(details['approvalId']);
    if (action === 'approval.requested') {
      const { actionRequestId } = details;
      this.#approvals.set(approvalId, {
        directiveId,
        electorate: this.of(typeof actionRequestId === 'string' ? [actionRequestId] : []),
        votes: new Map(),
        authors: authorsIn(details, actor.id),
      });
    }
    const approval = this.#approvals.get(approvalId);
    if (!approval) return [];
    if (action === 'approval.ready') {
      approval.electorate = this.of(this.#drafts.get(approval.directiveId ?? '') ?? []);
    } else if (action === 'directive.recalled' || action === 'directive.override_asked') {
      const { workPacketIds } = details;
      approval.electorate = this.of(Array.isArray(workPacketIds) ? workPacketIds.map(String) : []);
    } else if (action === 'approval.edited') {
      approval.electorate = strictestElectorate([approval.electorate, this.of(decided)]);
      approval.votes.clear();
      for (const id of authorsIn(details, actor.id)) approval.authors.add(id);
    } else if (action === 'approval.voted' || action === 'approval.approved') {
      const wrong = wrongWithVote(approval, actor.id, details);
      approval.votes.set(actor.id, details['contentHash']);
      if (action === 'approval.voted') return wrong;
      this.#approvals.delete(approvalId);
      const have = [...approval.votes.values()].filter((hash) => hash === details['contentHash']).length;
      const need = approval.electorate.quorum;
      return have < need
        ? [...wrong, `approves with ${have} of the ${need} approvals that the standing orders ask for`]
        : wrong;
    } else if (ENDS.includes(action)) this.#approvals.delete(approvalId);
    return [];
  }

  private of(workPacketIds: readonly string[]): Electorate {
    return strictestElectorate(workPacketIds.flatMap((id) => this.#electorates.get(id) ?? []));
  }
}

function wrongWithVote(
  { electorate: { quorum, approvers }, votes, authors }: OpenApproval,
  memberId: string,
  { role }: ReceiptContent['details'],
): string[] {
  // Only a viewer has no role that any order could name.
  const voter = { memberId, role: ROLES.find((one) => one === role) ?? 'viewer' };
  const isByNamed = approvers.every((named) => isNamed(named, voter));
  return [
    ...(votes.has(memberId) ? ['counts an approval of a member who had approved it before'] : []),
    ...(isByNamed ? [] : ['is an approval by somebody whom a standing order does not name']),
    ...(quorum > 1 && authors.has(memberId)
      ? ['is an approval by somebody who asked for it or edited it, where several people decide']
      : []),
  ];
}

function authorsIn({ requesterIds }: ReceiptContent['details'], actorId: string): Set<string> {
  return new Set([...(Array.isArray(requesterIds) ? requesterIds.map(String) : []), actorId]);
}

function idsIn(decisions: unknown): string[] {
  if (!Array.isArray(decisions)) return [];
  return decisions.flatMap((decision: { workPacketId?: unknown } | null) =>
    typeof decision?.workPacketId === 'string' ? decision.workPacketId : [],
  );
}
