import type { Role } from '../../platform/auth/caller.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import {
  ContentChanged,
  Forbidden,
  InvalidTransition,
  PreconditionRequired,
  ValidationFailed,
} from '../../platform/kernel/errors.js';
import { type Concern, type DraftingState, dangersOfPackets, withoutAddress } from '../capos/index.js';
import { type GuardianMode, haltedIn } from '../terms/index.js';
import { isHalted, letsNothingLeave } from '../guardian/index.js';
import { isNamed } from '../standing-orders/index.js';
import {
  ApprovalAlreadyDecided,
  ApprovalExpired,
  ApprovalNotReady,
  type InputDetail,
  InputRequired,
} from './approvals.errors.js';
import type { ApprovalOutput } from './approval-content.dto.js';
import type { ApprovalSummary, ShownApproval, ApprovalVotes } from './approvals.dto.js';
import { type Answer, faultsOfAnswer } from './question.js';
import { type Holdups, NOTHING_PREPARED, waitingFor } from './waiting.js';
import type {
  ApprovalEntity,
  ApprovalPacket,
  ListedApproval,
  UnrevisedApproval,
  Vote,
} from './approval.entity.js';

/** "At most 5 rounds" of request-changes (CONTRACT, Approval). */
const MAX_ROUNDS = 5;
export const URGENT_BEFORE_EXPIRY_MS = 2 * 3_600_000;

/** What a person decided. */
export interface Decision {
  memberId: string;
  /** In the team of the approval. */
  role: Role;
  decision: 'approve' | 'reject';
  /** Sends it back for another draft instead of ending it. */
  revise: boolean;
  /** To a question, which is approved by answering it; null for any other decision. */
  answer: Answer | null;
  /** Every member who may be the one that decides: whose token it is, and who made the token for them. */
  people: readonly string[];
  /** The content that was read, if the client said so. */
  ifMatch: string | null;
}

/** Its title as sentences quote it, with the agent from outside that asks. */
export function quotedTitle({
  title,
  actionRequestId,
  requestedBy,
}: Pick<ApprovalEntity, 'title' | 'requestedBy'> & Partial<Pick<ApprovalEntity, 'actionRequestId'>>): string {
  return actionRequestId ? `"${title}" for ${requestedBy.name}` : `"${title}"`;
}

/** What a receipt or an escalation about this approval names. */
export function about({
  approvalId,
  directiveId,
  teamId,
  capo,
}: Pick<ApprovalEntity, 'approvalId' | 'directiveId' | 'teamId' | 'capo'>) {
  return { entity: { type: 'approval', id: approvalId }, directiveId, teamId, capo };
}

/** SHA-256 over all that is approved: the output and each work packet with its complete parameters. */
export function approvedHash(
  output: Pick<ApprovalOutput, 'body'> | null,
  packets: readonly ApprovalPacket[],
): string {
  return sha256(
    canonicalJson({ body: output?.body ?? null, packets: packets.map((packet) => packet.contentHash) }),
  );
}

/**
 * Whether the decision may be made now. Answers `repeated` for the same decision again, which changes nothing.
 * @throws ApprovalAlreadyDecided, ApprovalExpired, GuardianHalted, ApprovalNotReady, ContentChanged, PreconditionRequired,
 * Forbidden, InputRequired, InvalidTransition, ValidationFailed
 */
export function checkDecision(
  approval: UnrevisedApproval,
  { memberId, role, decision, revise, answer, people, ifMatch }: Decision,
  guardian: GuardianMode,
  now: number,
): 'decide' | 'repeated' {
  const wanted = decision === 'approve' ? 'approved' : revise ? 'changes_requested' : 'rejected';
  const isQuestion = approval.kind === 'question';
  if (decision === 'approve' && isQuestion !== (answer !== null)) {
    throw new InvalidTransition({ message: isQuestion ? ANSWER_IT : NO_QUESTION });
  }
  if (approval.status === wanted && canonicalJson(answer) === canonicalJson(approval.answer))
    return 'repeated';
  if (isExpired(approval, now)) throw new ApprovalExpired();
  if (approval.status !== 'pending') throw alreadyDecided(approval);
  if (revise && approval.round >= MAX_ROUNDS) {
    throw new InvalidTransition({
      message: `Changes were requested ${MAX_ROUNDS} times already; approve or reject it.`,
    });
  }
  // A draft that is still being made would be taken for the one that was asked for.
  if (revise && !approval.ready) throw new ApprovalNotReady();
  const details = { contentHash: approval.contentHash };
  const isAsRead = ifMatch === null || ifMatch === approval.contentHash;
  // A rejection loosens nothing, so it is accepted at any time and without a hash. One that names a hash is of that content alone.
  if (decision === 'reject') {
    if (!isAsRead) throw new ContentChanged({ details });
    return 'decide';
  }
  // Nothing leaves with an answer.
  if (isQuestion ? isHalted(guardian) : letsNothingLeave(guardian)) throw haltedIn(guardian);
  if (!approval.ready) throw new ApprovalNotReady();
  if (ifMatch === null && !isDraftOrOwnEdit(approval, people)) {
    throw new PreconditionRequired({ message: EDITED_SINCE, details });
  }
  if (!isAsRead) throw new ContentChanged({ details });
  assertOtherEyes(approval, people);
  assertApprover(approval, { memberId, role, people });
  if (Object.hasOwn(approval.votes, memberId)) return 'repeated';
  if (approval.kind === 'output' && approval.packets.length === 0) {
    throw new InputRequired({ message: NOTHING_PREPARED, details: [] });
  }
  const faults = answer && approval.question ? faultsOfAnswer(approval.question.answerSchema, answer) : [];
  if (faults.length > 0) throw new ValidationFailed({ details: faults });
  const lacking = inputsNeeded(approval);
  if (lacking.length > 0) throw new InputRequired({ details: lacking });
  return 'decide';
}

/** A cancelled approval says why nobody decided on it. */
function alreadyDecided({ status, feedback }: UnrevisedApproval): Error {
  const isCancelled = status === 'cancelled' && feedback !== null;
  const message = isCancelled ? `This approval was cancelled: ${feedback.replace(/\.?$/, '.')}` : undefined;
  return new ApprovalAlreadyDecided({ message, details: { status } });
}

const ANSWER_IT =
  'A question is answered and not approved: send { "answer": { ... } } to POST /approvals/{approvalId}/respond, or reject it with a reason.';
const NO_QUESTION = 'Only a question is answered: approve this, or reject it with a reason.';
const EDITED_SINCE =
  'The draft was edited after it was made. Read it again, and name what you have read: the contentHash, in If-Match or beside the decision.';

/**
 * Whether the content is that of the draft, or the last edit is certainly the caller's own. Of an edit or a decision with a token
 * that two members have seen, nobody knows whose it is (docs/decisions/0033).
 */
function isDraftOrOwnEdit({ lastEditedBy }: UnrevisedApproval, people: readonly string[]): boolean {
  if (lastEditedBy === null) return true;
  return lastEditedBy.length > 0 && new Set([...lastEditedBy, ...people]).size === 1;
}

/**
 * Whether it may be edited now.
 * @throws ApprovalAlreadyDecided, ApprovalExpired, GuardianHalted, ApprovalNotReady, ContentChanged
 */
export function checkEdit(
  approval: UnrevisedApproval,
  ifMatch: string,
  guardian: GuardianMode,
  now: number,
): void {
  if (isExpired(approval, now)) throw new ApprovalExpired();
  if (approval.status !== 'pending') throw alreadyDecided(approval);
  // Observing stops what leaves, and not the work on drafts.
  if (isHalted(guardian)) throw haltedIn(guardian);
  if (!approval.ready) throw new ApprovalNotReady();
  if (ifMatch !== approval.contentHash) {
    throw new ContentChanged({ details: { contentHash: approval.contentHash } });
  }
}

/** The work packets; those of drafts made before they could be edited lack nothing, and a capo wrote them. */
export function packetsOf({ packets }: Pick<ApprovalEntity, 'packets'>): ApprovalPacket[] {
  const unedited: Pick<ApprovalPacket, 'needsInput' | 'writtenBy' | 'edits'> = {
    needsInput: [],
    writtenBy: 'capo',
    edits: [],
  };
  return packets.map((packet) => ({ ...unedited, ...packet }));
}

/** What is written in a work packet. */
function textsOf({
  title,
  rationale,
  action: { type, params },
}: ApprovalPacket): Parameters<typeof dangersOfPackets>[0][number] {
  return { type, title, rationale, params };
}

/** What has to be supplied before it can be approved, by its place in the approval. */
function inputsNeeded(approval: Pick<ApprovalEntity, 'packets'>): InputDetail[] {
  return packetsOf(approval).flatMap(({ workPacketId, needsInput }, index) =>
    needsInput.map(({ path, message }) => ({
      path: `packets.${index}.${path}`,
      rule: 'needsInput',
      message,
      workPacketId,
    })),
  );
}

/**
 * Under "four eyes" requesters and editors cannot extend it either.
 * @throws Forbidden
 */
export function assertOtherEyes(
  { selfApproval, requesterIds }: Pick<ApprovalEntity, 'selfApproval' | 'requesterIds'>,
  people: readonly string[],
): void {
  if (selfApproval || !isAmongWhoAsked({ requesterIds }, people)) return;
  throw new Forbidden({
    message:
      'A standing order requires approval by someone other than the member who asked for this and anyone who edited it or had it drafted again, with a token that they do not share.',
  });
}

/**
 * Where several people have to approve, or certain ones, it counts who they are.
 * @throws Forbidden
 */
export function assertApprover(
  { quorum, approvers }: Pick<ApprovalEntity, 'quorum' | 'approvers'>,
  { memberId, role, people }: Pick<Decision, 'memberId' | 'role' | 'people'>,
): void {
  const against = approvers.find((named) => !isNamed(named, { memberId, role }));
  if (against) {
    throw new Forbidden({
      message: `The standing order "${against.name}" names who may approve this, and you are not among them.`,
    });
  }
  if ((quorum > 1 || approvers.length > 0) && people.length > 1) {
    throw new Forbidden({
      message:
        'A standing order says how many people approve this, or who they are, and your token was made by another member: approve it with one that only you have seen.',
    });
  }
}

/** How many people have approved it, and how many have to. Of what earlier versions approved it is not known who has. */
export function votesOf({
  status,
  votes,
  quorum: need,
  approvers,
}: Pick<ApprovalEntity, 'status' | 'votes' | 'quorum' | 'approvers'>): ApprovalVotes {
  const by = inOrder(votes);
  return { have: status === 'approved' ? need : by.length, need, by, approvers };
}

/** Who has approved it. */
export function approverNames({ votes }: Pick<ApprovalEntity, 'votes'>): string {
  return inOrder(votes)
    .map(({ by }) => by.name)
    .join(', ');
}

function inOrder(votes: ApprovalEntity['votes']): Vote[] {
  return Object.values(votes).toSorted((a, b) => a.at - b.at);
}

/** To go behind a sentence that says it is not decided. */
export function votesInWords({ votes, quorum }: Pick<ApprovalEntity, 'votes' | 'quorum'>): string {
  return quorum > 1 ? ` It has ${Object.keys(votes).length} of ${quorum} approvals.` : '';
}

/** Whether one of `people` asked for it, or has written a part of it. */
export function isAmongWhoAsked(
  { requesterIds }: Pick<ApprovalEntity, 'requesterIds'>,
  people: readonly string[],
): boolean {
  return people.some((person) => requesterIds.includes(person));
}

/**
 * An expired approval is never an approval, whether or not the work that ends it has been done yet. A kill stops the
 * clock of the approval, but not the deadline of its directive: what came too late is no use after the revert either.
 */
export function isExpired(
  { status, expiresAt, frozenMs, deadline }: UnrevisedApproval,
  now: number,
): boolean {
  if (status !== 'pending') return status === 'expired';
  return (frozenMs === null && expiresAt <= now) || (deadline !== null && deadline <= now);
}

/** What was feared of the capo's draft may not be true of what people have made of it, so it says whereof it speaks. */
export function concernsAfterEdit(concerns: readonly Concern[]): Concern[] {
  return concerns.map(({ risk, reason }) => ({ risk, reason: `In the capo's draft: ${reason}` }));
}

/** Whether a pending approval is urgent (CONTRACT, Approval). */
export function isUrgent(
  {
    priority,
    risk,
    kind,
    expiresAt,
    frozenMs,
  }: Pick<ListedApproval, 'priority' | 'risk' | 'kind' | 'expiresAt' | 'frozenMs'>,
  now: number,
): boolean {
  const left = frozenMs ?? expiresAt - now;
  // Whatever tool an agent names that nobody has registered counts as high: agents would decide what is urgent.
  const isRisky = risk === 'critical' || (risk === 'high' && kind !== 'action');
  return priority === 'high' || isRisky || left < URGENT_BEFORE_EXPIRY_MS;
}

export function viewOf(
  approval: ApprovalEntity,
  now: number,
  holdups: Holdups,
  drafting: DraftingState | null = null,
): ShownApproval {
  const {
    workspaceId: _workspace,
    question,
    answer,
    output,
    packets: _packets,
    policy,
    concerns,
    revisions,
    lastEditedBy: _editors,
    escalatesAt: _escalates,
    escalationId: _escalation,
    extensions: _extensions,
    ...listed
  } = approval;
  const packets = packetsOf(approval);
  const isEdited = revisions.length > 1;
  const shown = isEdited
    ? [...dangersOfPackets(packets.map(textsOf)), ...concernsAfterEdit(concerns)]
    : concerns;
  const riskReasons = shown.map(({ reason }) => reason);
  const content = { riskReasons, output, packets, policy, revisions, answer };
  const asked = question && {
    title: question.title,
    answerSchema: question.answerSchema,
    reason: question.reason,
  };
  return { ...summaryOf(listed, now, holdups), ...content, question: asked, drafting };
}

/** For members who may not decide: a destination is named without its address (docs/decisions/0029). */
export function withoutAddresses(approval: ShownApproval): ShownApproval {
  const packets = approval.packets.map(({ action, ...packet }) => ({
    ...packet,
    action: { ...action, params: withoutAddress(action.type, action.params) },
  }));
  return { ...approval, packets };
}

/** The agent from outside that asks. */
export function agentOf({
  requestedBy: { type, id, name },
}: Pick<ApprovalEntity, 'requestedBy'>): ApprovalSummary['agent'] {
  return type === 'agent' ? { tokenId: id, name } : null;
}

export function summaryOf(approval: ListedApproval, now: number, holdups: Holdups): ApprovalSummary {
  const {
    frozenMs,
    selfApproval: _self,
    round: _round,
    deadline: _deadline,
    requesterIds: _requesters,
    quorum: _quorum,
    approvers: _approvers,
    missingApprovers: _missing,
    ...shown
  } = approval;
  return {
    ...shown,
    agent: agentOf(approval),
    votes: votesOf(approval),
    urgent: approval.status === 'pending' && isUrgent(approval, now),
    waitingFor: waitingFor(approval, holdups),
    // While killed the clock stands still for approvals, so the time of expiry moves along.
    expiresAt: frozenMs === null ? approval.expiresAt : now + frozenMs,
  };
}
