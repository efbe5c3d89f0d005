import type { ApprovalEntity, TellOfApproval } from '../approvals/index.js';
import type { Draft } from '../capos/index.js';
import type { GuardianEntity, LockedFacts, PolicyDecision } from '../guardian/index.js';
import type { Decision } from '../standing-orders/index.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import type { DirectiveEntity } from './directive.entity.js';
import { outcomeOfDraft, whyNobodyElseMayAllow } from './ready-content.js';

/** A draft whose work packets the registry knows, with what the open transaction has locked. */
export interface CheckedDraft {
  guardian: GuardianEntity;
  /** The one that waits for the draft, if one does. */
  approval: ApprovalEntity | undefined;
  directive: DirectiveEntity;
  draft: Draft;
  packets: readonly WorkPacketEntity[];
  /** Where they were read with the locks. */
  facts?: LockedFacts | undefined;
  /** Where it was looked up with the locks; otherwise members are told by work of its own. */
  tell?: TellOfApproval | undefined;
}

/** A draft about which the guardian has decided: one decision for each of its work packets. */
export interface DecidedDraft extends CheckedDraft {
  policy: readonly PolicyDecision[];
}

/**
 * What becomes of a draft. `deny`: the directive ends, since a standing order forbids a part of it. `review`: a person decides.
 * `end`: the directive ends, since nothing was prepared. `release`: its work packets leave.
 */
export type DraftVerdict = 'deny' | 'review' | 'end' | 'release';

/** What the verdict depends on. */
interface Judged {
  directive: Pick<DirectiveEntity, 'requiresApproval'>;
  approval: object | undefined;
  draft: Pick<Draft, 'concerns'>;
  packets: readonly Pick<WorkPacketEntity, 'title' | 'needsInput'>[];
  policy: readonly { decision: Pick<Decision, 'outcome'> }[];
}

export function verdictOn(decided: Judged): DraftVerdict {
  const { draft, packets, policy } = decided;
  const reasons = whyNobodyElseMayAllow(packets, draft.concerns);
  const outcome = outcomeOfDraft(
    policy.map(({ decision }) => decision),
    reasons,
  );
  if (outcome === 'deny') return 'deny';
  // Without a work packet there is nothing that anybody could approve, and nothing that could be carried out.
  if (packets.length === 0) return 'end';
  if (isAwaited(decided)) return 'review';
  return outcome === 'require_approval' ? 'review' : 'release';
}

/** A person reviews it whatever is decided, and the approval for that is open already. */
export function isAwaited({ directive, approval }: Pick<Judged, 'directive' | 'approval'>): boolean {
  return directive.requiresApproval || approval !== undefined;
}
