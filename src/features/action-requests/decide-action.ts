import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { newId } from '../../platform/kernel/ids.js';
import { RequestApproval } from '../approvals/index.js';
import {
  GUARDIAN,
  type GuardianEntity,
  type PolicyDecision,
  PolicyGate,
  type Recheck,
} from '../guardian/index.js';
import { strictestElectorate } from '../standing-orders/index.js';
import { amountInWords, type ToolEntity, Tools } from '../tools/index.js';
import { Workspaces } from '../workspaces/index.js';
import { consumable, contentOf, decidedActionOf, NOT_DECIDED, paramsOf } from './action-request.js';
import type { ActionDecision, ActionRequestEntity } from './action-request.entity.js';
import { ActionOutcomes } from './action-outcomes.js';

/** What a decision depends on besides the request. */
export interface Basis {
  tool: ToolEntity | undefined;
  /** The workspace's. */
  currency: string;
  guardian: GuardianEntity;
  /** False: the agent describes the tool otherwise than it is registered. Left out: true. */
  isKnown?: boolean;
}

/** Decides action requests by the policy that decides work packets (CONTRACT section 7), in the open transaction. */
@Injectable()
export class DecideAction {
  constructor(
    private readonly db: Db,
    private readonly tools: Tools,
    private readonly workspaces: Workspaces,
    private readonly gate: PolicyGate,
    private readonly outcomes: ActionOutcomes,
    private readonly requestApproval: RequestApproval,
  ) {}

  /** For a caller that sends more along: their rows are the tool, if it is registered, and the currency. */
  basisStatements(workspaceId: string, tool: string): [Statement, Statement] {
    return [this.tools.readStatement(workspaceId, tool), this.workspaces.currencyStatement(workspaceId)];
  }

  async basisOf(
    { workspaceId, tool: name }: Pick<ActionRequestEntity, 'workspaceId' | 'tool'>,
    guardian: GuardianEntity,
  ): Promise<Basis> {
    const [[tool], [{ currency }]] = (await this.db.unit.batch(this.basisStatements(workspaceId, name))) as [
      [ToolEntity?],
      [{ currency: string }],
    ];
    return { tool, currency, guardian };
  }

  /** What the policy says of the request with these parameters. */
  async decide(
    request: ActionRequestEntity,
    params: Record<string, unknown>,
    basis: Basis,
  ): Promise<PolicyDecision> {
    const [policy] = await this.gate.decide([decidedActionOf(request, params, basis)], basis);
    return policy!;
  }

  /** Whether what was decided may still be done. */
  recheck(request: ActionRequestEntity, basis: Basis): Promise<Recheck> {
    const allowedBy = request.status === 'allowed' ? 'policy' : request.byRequester ? 'requester' : 'person';
    const packet = decidedActionOf(request, paramsOf(request), basis);
    return this.gate.recheck(packet, { guardian: basis.guardian, allowedBy });
  }

  /** Stores the request as the policy decides it, and asks people where they have to decide. What it lets pass is counted. */
  settle(
    request: ActionRequestEntity,
    policy: PolicyDecision,
    by: Actor,
    store: (decided: ActionRequestEntity) => void = (decided) => this.outcomes.write(request, decided),
  ): ActionRequestEntity {
    const { outcome, approval } = policy.decision;
    const { action, says } = TOLD[outcome];
    // With a person's edits, as the policy has read them: an order might allow what the agent sent and a person has reduced.
    const params = paramsOf(request);
    if (outcome === 'allow') this.gate.use(policy);
    const undecided = {
      ...request,
      ...NOT_DECIDED,
      approvalId: outcome === 'require_approval' ? newId('apr') : null,
    };
    const receiptId = this.outcomes.note(undecided, by, {
      action,
      says,
      policy,
      guardianEpoch: policy.input.guardian.epoch,
      ...(outcome === 'deny' && { outcome: 'failure' }),
    });
    const decided: ActionRequestEntity = {
      ...undecided,
      policy: reasonOf(policy),
      receiptId,
      ...changesBy(policy, request),
    };
    store(decided);
    const { approvalId, actionRequestId, workspaceId, teamId, title, requestedBy, requesterIds } = decided;
    if (approvalId !== null) {
      const { onExpiry, selfApproval } = approval;
      this.requestApproval.askForAgent(
        { approvalId, actionRequestId, workspaceId, teamId, title, requestedBy, requesterIds },
        { ...contentOf(decided, params), onExpiry, selfApproval, ...strictestElectorate([approval]) },
      );
    }
    return decided;
  }
}

function changesBy(
  { decision, input }: PolicyDecision,
  request: ActionRequestEntity,
): Partial<ActionRequestEntity> {
  const { outcome, approval, throttledUntil } = decision;
  const { at } = input;
  const decided = (what: ActionDecision['outcome']): ActionDecision => ({
    outcome: what,
    decidedBy: GUARDIAN,
    decidedAt: at,
    params: paramsOf(request),
    feedback: null,
  });
  switch (outcome) {
    case 'allow':
      return consumable(request, decided('allowed'));
    case 'deny':
      return { status: 'denied', decision: decided('denied') };
    case 'throttle': {
      const dueAt = Math.min(throttledUntil ?? Infinity, request.expiresAt);
      return { status: 'pending', retryAt: throttledUntil, dueAt };
    }
    default: {
      const expiresAt = Math.min(request.expiresAt, at + approval.expiresInMinutes * 60_000);
      return { status: 'pending', expiresAt };
    }
  }
}

/** Why a person decides, with the amount that the policy read. */
export function reasonOf({ decision, input }: PolicyDecision): ActionRequestEntity['policy'] {
  const { amount, currency, outside } = input.packet;
  const { outcome, explanation } = decision;
  if (amount === null || currency === null || outside?.unread.includes('amount'))
    return { outcome, explanation };
  return { outcome, explanation, amount: `${amountInWords(amount, currency)} ${currency}` };
}

const TOLD = {
  allow: { action: 'action.allowed', says: 'is allowed by the standing orders' },
  deny: { action: 'action.denied', says: 'is not allowed by the standing orders' },
  throttle: { action: 'action.throttled', says: 'waits for its turn under the standing orders' },
  require_approval: { action: 'action.asked', says: 'is left to a person by the standing orders' },
} as const;
