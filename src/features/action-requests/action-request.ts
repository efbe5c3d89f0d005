import type { Caller } from '../../platform/auth/caller.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import type { Id } from '../../platform/kernel/ids.js';
import { type ApprovalPacket, type EditedContent, approvedHash } from '../approvals/index.js';
import type { DecidedPacket } from '../standing-orders/index.js';
import {
  actionContentHash,
  assertTokenNames,
  isReservedToolName,
  isToolName,
  paramsHashOf,
} from '../terms/index.js';
import { factsOf, type ToolEntity } from '../tools/index.js';
import type { ActionDecision, ActionRequestEntity, ActionRequestStatus } from './action-request.entity.js';
import type { ActionRequestSummary, ActionRequestView } from './action-requests.dto.js';

/** The engine of a decision about what no capo does. */
const OUTSIDE = 'outside';

/** What ends without anything done, and gives back what orders had counted. */
export const UNCONSUMED: readonly ActionRequestStatus[] = ['pending', 'allowed', 'approved'];

/** Of a request that is yet to be decided. */
export const NOT_DECIDED = {
  approvalId: null,
  retryAt: null,
  decision: null,
  byRequester: false,
  consumeBy: null,
  dueAt: null,
};

/** The policy where the parameters could not be checked in time (CONTRACT section 7). */
export const UNCHECKED = {
  outcome: 'deny' as const,
  explanation: ['The parameters took too long to be checked against the tool.'],
};

/**
 * @throws ValidationFailed for a name that no tool of an agent may have
 * @throws Forbidden for one that the token does not name
 */
export function assertMayAsk(caller: Pick<Caller, 'tools'>, tool: string): void {
  if (!isToolName(tool) || isReservedToolName(tool)) {
    const message = 'tool must not begin as one of our own action types does, such as email or document';
    throw new ValidationFailed({ details: [{ path: 'tool', rule: 'isToolName', message }] });
  }
  assertTokenNames(caller, tool);
}

/** The parameters as they may be used. */
export function paramsOf({ params, decision }: ActionRequestEntity): Record<string, unknown> {
  return decision?.params ?? params;
}

/** What the guardian decides about. */
export function decidedActionOf(
  request: Pick<ActionRequestEntity, 'actionRequestId' | 'teamId' | 'agent' | 'tool'>,
  params: Record<string, unknown>,
  { tool, isKnown = true, currency }: { tool: ToolEntity | undefined; isKnown?: boolean; currency: string },
): DecidedPacket & { workPacketId: Id<'act'> } {
  const facts = factsOf(tool, params);
  const isRegistered = tool?.status === 'active' && isKnown;
  return {
    workPacketId: request.actionRequestId as Id<'act'>,
    capo: null,
    engine: OUTSIDE,
    teamId: request.teamId as Id<'team'> | null,
    priority: 'medium',
    actionType: request.tool,
    // What nobody here has described is taken for final.
    reversibility: isRegistered ? facts.reversibility : 'irreversible',
    target: null,
    params: params as DecidedPacket['params'],
    recipients: facts.recipients,
    amount: facts.amount,
    currency: facts.currency,
    outside: {
      agent: request.agent,
      isRegistered,
      unread: [
        ...(facts.amountIsKnown ? [] : ['amount' as const]),
        ...(facts.recipientsAreKnown ? [] : ['recipients' as const]),
      ],
      currency,
    },
  };
}

/** As the person who decides sees it. Its hash covers the tool as it is described, the agent and the parameters. */
function approvalPacketOf(
  { actionRequestId, tool, fingerprint, agent, title, reversibility, reason }: ActionRequestEntity,
  params: Record<string, unknown>,
): ApprovalPacket {
  return {
    workPacketId: actionRequestId,
    title,
    action: { type: tool, target: null, params },
    reversibility,
    rationale: reason ?? '',
    contentHash: actionContentHash({ tool, fingerprint, agent, paramsHash: paramsHashOf(tool, params) }),
    needsInput: [],
    writtenBy: 'agent',
    edits: [],
  };
}

/** What a person decides on. */
export function contentOf(
  request: ActionRequestEntity,
  params: Record<string, unknown>,
): Omit<EditedContent, 'onExpiry' | 'selfApproval' | 'quorum' | 'approvers'> {
  const { requestedBy, title, risk, reversibility, policy, expiresAt } = request;
  const packets = [approvalPacketOf(request, params)];
  return {
    summary: `${requestedBy.name} asks to do this once: ${title}`,
    risk,
    reversibility,
    output: null,
    packets,
    inputsNeeded: 0,
    contentHash: approvedHash(null, packets),
    policy,
    expiresAt,
  };
}

/** What makes a decided request consumable for as long as its tool says. */
export function consumable({ consumeInSeconds }: ActionRequestEntity, decision: ActionDecision) {
  const consumeBy = decision.decidedAt + consumeInSeconds * 1_000;
  const status = decision.outcome === 'allowed' ? ('allowed' as const) : ('approved' as const);
  return { status, decision, consumeBy, dueAt: consumeBy };
}

export function viewOf(request: ActionRequestEntity, caller: Pick<Caller, 'agent'>): ActionRequestView {
  const { params, run, decision, result } = request;
  return { ...summaryOf(request, caller), params, run, decision, result };
}

/** Why something is asked or denied is told to an agent without the bounds of the orders that say so. */
export function summaryOf(
  request: Omit<ActionRequestEntity, 'params' | 'run' | 'decision' | 'result'>,
  { agent }: Pick<Caller, 'agent'>,
): ActionRequestSummary {
  const { tokenRootId, policy } = request;
  const explanation = agent ? [TOLD[policy.outcome] ?? 'A person decides.'] : policy.explanation;
  return {
    actionRequestId: request.actionRequestId,
    tool: request.tool,
    title: request.title,
    paramsHash: request.paramsHash,
    reason: request.reason,
    externalId: request.externalId,
    teamId: request.teamId,
    agent: { tokenId: tokenRootId, name: request.agent },
    status: request.status,
    endedBecause: request.endedBecause,
    approvalId: request.approvalId,
    retryAt: request.retryAt,
    policy: { outcome: policy.outcome, explanation },
    risk: request.risk,
    reversibility: request.reversibility,
    expiresAt: request.expiresAt,
    consumeBy: request.consumeBy,
    consumedAt: request.consumedAt,
    actBy: request.actBy,
    completeBy: request.completeBy,
    createdAt: request.createdAt,
    receiptId: request.receiptId,
  };
}

const TOLD: Record<string, string> = {
  allow: 'The standing orders allow this.',
  deny: 'The standing orders do not allow this.',
  throttle: 'The standing orders let this wait.',
  require_approval: 'A person decides about this.',
};
