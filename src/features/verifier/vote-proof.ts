import { ROLES } from '../../platform/auth/caller.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { type Electorate, isNamed, strictestElectorate } from '../standing-orders/evaluate.js';

/** An approval that waits, as far as its receipts tell. */
interface OpenApproval {
  /** The directive, or the action request, whose decisions say who approves it. */
  subjectId: string;
  electorate: Electorate;
  /** The content that each member has approved. */
  votes: Map<string, unknown>;
  /** Who asked for it or has edited it, and who made the tokens that they used. */
  authors: Set<string>;
}

const ENDS = [
  'approval.approved',
  'approval.answered',
  'approval.rejected',
  'approval.changes_requested',
  'approval.expired',
  'approval.cancelled',
  'action.denied',
  'action.cancelled',
  'action.expired',
  'directive.executed',
  'directive.rejected',
  'directive.expired',
  'directive.cancelled',
  'directive.reverted',
];

/**
 * Counts again who has approved what needs several people, or certain ones, from the receipts alone. What an approval needs is
 * what the decisions come to when they are made again, and not what its receipts say. Memory grows with what is open, and with
 * directives that failed: a budget override asks about them again.
 */
export class VoteProof {
  readonly #approvals = new Map<string, OpenApproval>();
  /** By directive, or action request, and work packet, where one approval by anybody is not enough. */
  readonly #electorates = new Map<string, Map<string, Partial<Electorate>>>();
  /** The work packets of the present draft, by directive, where one of them is among those. */
  readonly #drafts = new Map<string, string[]>();

  /** Receipts are missing: of what is open nothing can be told any more. */
  incomplete(): void {
    this.#approvals.clear();
  }

  /** A decision that was made again; without terms where it could not be. */
  decided(subjectId: string, workPacketId: string, terms: Partial<Electorate>): void {
    const electorates = this.#electorates.get(subjectId) ?? new Map<string, Partial<Electorate>>();
    if (terms.quorum === undefined && terms.approvers === undefined) electorates.delete(workPacketId);
    else electorates.set(workPacketId, terms);
    if (electorates.size === 0) this.#electorates.delete(subjectId);
    else this.#electorates.set(subjectId, electorates);
  }

  /** The next receipt, behind its decisions; answers what is wrong with it, as the end of a sentence. */
  receipt(content: ReceiptContent): string[] {
    const { action, entity, directiveId, details } = content;
    const approvalId = entity.type === 'approval' ? entity.id : String(details['approvalId']);
    const wrong = this.follow(approvalId, content);
    if (!ENDS.includes(action)) return wrong;
    const subjectId = directiveId ?? this.#approvals.get(approvalId)?.subjectId ?? entity.id;
    this.#approvals.delete(approvalId);
    // A directive can be recalled after its approval.
    if (directiveId === null || action.startsWith('directive.')) {
      this.#electorates.delete(subjectId);
      this.#drafts.delete(subjectId);
    }
    return wrong;
  }

  private follow(approvalId: string, { action, actor, directiveId, details }: ReceiptContent): string[] {
    const decided = idsIn(details['decisions']);
    if (action === 'directive.drafted' && directiveId !== null) {
      if (decided.some((id) => this.#electorates.get(directiveId)?.has(id)))
        this.#drafts.set(directiveId, decided);
      else this.#drafts.delete(directiveId);
    }
    if (action === 'approval.requested') {
      const subjectId = directiveId ?? String(details['actionRequestId']);
      this.#approvals.set(approvalId, {
        subjectId,
        electorate: this.of(subjectId, [subjectId]),
        votes: new Map(),
        authors: authorsIn(details, actor.id),
      });
    }
    const approval = this.#approvals.get(approvalId);
    if (!approval) return [];
    const { subjectId } = approval;
    if (action === 'approval.ready') {
      approval.electorate = this.of(subjectId, this.#drafts.get(subjectId) ?? []);
    } else if (action === 'directive.recalled' || action === 'directive.override_asked') {
      const { workPacketIds } = details;
      approval.electorate = this.of(subjectId, Array.isArray(workPacketIds) ? workPacketIds.map(String) : []);
    } else if (action === 'approval.edited') {
      approval.electorate = strictestElectorate([approval.electorate, this.of(subjectId, decided)]);
      approval.votes.clear();
      for (const id of authorsIn(details, actor.id)) approval.authors.add(id);
    } else if (action === 'approval.voted' || action === 'approval.approved') {
      const wrong = wrongWithVote(approval, actor.id, details);
      approval.votes.set(actor.id, details['contentHash']);
      if (action === 'approval.voted') return wrong;
      const have = [...approval.votes.values()].filter((hash) => hash === details['contentHash']).length;
      const need = approval.electorate.quorum;
      return have < need
        ? [...wrong, `approves with ${have} of the ${need} approvals that the standing orders ask for`]
        : wrong;
    }
    return [];
  }

  private of(subjectId: string, workPacketIds: readonly string[]): Electorate {
    const electorates = this.#electorates.get(subjectId);
    return strictestElectorate(workPacketIds.flatMap((id) => electorates?.get(id) ?? []));
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
