import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, peopleBehind, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { defineError } from '../../platform/kernel/define-error.js';
import {
  AlreadyExists,
  ContentChanged,
  Forbidden,
  InvalidTransition,
  NotFound,
  ValidationFailed,
} from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { ApprovalNotReady, Approvals, type UnrevisedApproval } from '../approvals/index.js';
import {
  GUARDIAN,
  type GuardianEntity,
  Guardians,
  PolicyDenied,
  type Recheck,
  isHalted,
  letsNothingLeave,
} from '../guardian/index.js';
import { GuardianHalted, haltedIn, paramsHashOf } from '../terms/index.js';
import { factsOf, type ToolEntity, ToolsService } from '../tools/index.js';
import { AskingToken, TooManyPending } from '../workspaces/index.js';
import { assertMayAsk, NOT_DECIDED, UNCONSUMED } from './action-request.js';
import type { ActionRequestEntity, ActionResult } from './action-request.entity.js';
import type { ActionResultBody, ConsumeBody, CreateActionRequestBody } from './action-requests.dto.js';
import { ActionOutcomes } from './action-outcomes.js';
import { ActionRequests } from './action-requests.repository.js';
import { DecideAction } from './decide-action.js';
import type { PermittedRequest } from './permits.js';

export const AlreadyConsumed = defineError(
  'ALREADY_CONSUMED',
  409,
  'Another attempt has consumed this action request. Whether it was carried out is not known from here: do not act on it.',
);
export const ToolChanged = defineError(
  'TOOL_CHANGED',
  409,
  'The tool is not described as it was when this was decided. Ask again.',
);
export const ActionExpired = defineError(
  'ACTION_EXPIRED',
  410,
  'The time in which this action request could be consumed has passed. Ask again.',
);

/** The agent must begin within so long of consuming, or not at all. */
const ACT_WITHIN_MS = 30_000;
/** Within so long the attempt that consumed it gets its answer again. */
const SAME_ATTEMPT_MS = 60_000;
/** To consume, and to complete, where nobody has registered the tool. */
const DEFAULT_SECONDS = 900;
const MAX_OUTPUT_BYTES = 8 * 1024;

/**
 * What agents from outside ask to do (CONTRACT section 7). Each is decided by the same policy as a work packet, waits for a person
 * where that says so, and may be consumed once. Nothing is carried out here.
 */
@Injectable()
export class ActionRequestsService {
  constructor(
    private readonly db: Db,
    private readonly requests: ActionRequests,
    private readonly asking: AskingToken,
    private readonly tools: ToolsService,
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly decideAction: DecideAction,
    private readonly outcomes: ActionOutcomes,
  ) {}

  /**
   * Asks, in the open transaction, and is decided at once.
   * @throws ValidationFailed, Forbidden, NotFound for a team, AlreadyExists for another request of this name, GuardianHalted, TooManyPending
   */
  async create(
    caller: Caller,
    body: CreateActionRequestBody,
  ): Promise<{ request: ActionRequestEntity; isNew: boolean; consumed?: PermittedRequest }> {
    const { workspaceId } = caller;
    const { tool: name, params } = body;
    assertMayAsk(caller, name);
    const { former, also, isFull, expiresInMs, ...asked } = await this.asking.admit<ActionRequestEntity>(
      caller,
      {
        ...body,
        content: { tool: name, params, reason: body.reason ?? null, run: body.run ?? null },
        byExternalId: (root, id) => this.requests.byExternalIdStatement(workspaceId, root, id),
        pending: (root, limit) => this.requests.pendingStatement(workspaceId, root, limit),
        hashOf: (request) => request.requestHash,
      },
      [
        ...this.decideAction.basisStatements(workspaceId, name),
        this.guardians.lockSharedStatement(workspaceId),
        this.requests.nowStatement(),
      ],
    );
    if (former) return { request: former, isNew: false };
    const [[tool], [{ currency }], [guardian], [{ at }]] = also as [
      [ToolEntity?],
      [{ currency: string }],
      [GuardianEntity],
      [{ at: number }],
    ];
    const requestedBy = actorOf(caller);
    const checked = this.tools.checkParams(tool, params, requestedBy);
    if (isHalted(guardian.mode)) throw haltedIn(guardian.mode);
    const isActive = tool?.status === 'active';
    const facts = factsOf(tool, params);
    const request: ActionRequestEntity = {
      ...asked,
      actionRequestId: newId('act'),
      workspaceId,
      memberId: caller.memberId,
      requesterIds: peopleBehind(caller),
      requestedBy,
      agent: caller.agent?.name ?? null,
      tool: name,
      params,
      paramsHash: paramsHashOf(name, params),
      reason: body.reason ?? null,
      run: body.run ? { id: body.run.id, framework: body.run.framework ?? null } : null,
      title: tool ? facts.title : name,
      fingerprint: isActive ? tool.fingerprint : null,
      audience: tool?.audience ?? name,
      risk: isActive ? facts.risk : 'high',
      reversibility: isActive ? facts.reversibility : 'irreversible',
      status: 'pending',
      ...NOT_DECIDED,
      policy: { outcome: 'require_approval', explanation: [] },
      expiresAt: at + expiresInMs,
      consumeInSeconds: tool?.consumeInSeconds ?? DEFAULT_SECONDS,
      completeInSeconds: tool?.completeInSeconds ?? DEFAULT_SECONDS,
      attempt: null,
      consumedAt: null,
      guardianEpoch: null,
      actBy: null,
      completeBy: null,
      result: null,
      endedBecause: null,
      createdAt: at,
      receiptId: '',
    };
    if (checked === 'timeout') {
      const denied = this.outcomes.unchecked(request);
      this.requests.add(denied);
      return { request: denied, isNew: true };
    }
    const isKnown = (body.fingerprint ?? tool?.fingerprint) === tool?.fingerprint;
    const policy = await this.decideAction.decide(request, params, { tool, currency, guardian, isKnown });
    const decided = this.decideAction.settle(request, policy, requestedBy, (one) => this.requests.add(one));
    if (decided.status === 'pending' && isFull) throw new TooManyPending();
    if (decided.status !== 'allowed' || body.consume !== true) return { request: decided, isNew: true };
    if (letsNothingLeave(guardian.mode)) throw haltedIn(guardian.mode);
    const consumed = this.consumed(decided, decided.actionRequestId, at, guardian.epoch);
    return { request: consumed, isNew: true, consumed };
  }

  /**
   * Consumes what was allowed or approved, once, in a transaction of its own: what it finds changed is kept even where the agent is
   * refused.
   * @throws NotFound, Forbidden, AlreadyConsumed, ApprovalNotReady, ActionExpired, ContentChanged, ToolChanged, GuardianHalted, PolicyDenied
   */
  async consume(caller: Caller, actionRequestId: string, body: ConsumeBody): Promise<PermittedRequest> {
    if ((body.params === undefined) === (body.paramsHash === undefined)) {
      const message = 'give either params or paramsHash';
      throw new ValidationFailed({ details: [{ path: 'paramsHash', rule: 'isOneOf', message }] });
    }
    const result = await this.db.transaction(scopeOf(caller), () =>
      this.tryToConsume(caller, actionRequestId, body),
    );
    if (result instanceof Error) throw result;
    return result;
  }

  /** A refusal that is thrown leaves everything as it was; one that is answered keeps what was decided. */
  private async tryToConsume(
    caller: Caller,
    actionRequestId: string,
    body: ConsumeBody,
  ): Promise<PermittedRequest | Error> {
    const { workspaceId } = caller;
    const [[guardian], token, [request], [{ at }]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      this.asking.lockStatement(caller),
      this.requests.lockStatement(workspaceId, actionRequestId),
      this.requests.nowStatement(),
    ])) as [[GuardianEntity], unknown[], [ActionRequestEntity?], [{ at: number }]];
    if (!request) throw new NotFound();
    this.asking.assertUsable(token);
    assertOwn(caller, request);
    requireRole(caller, request.teamId, 'operator');
    if (letsNothingLeave(guardian.mode)) throw haltedIn(guardian.mode);
    const asked = body.paramsHash ?? paramsHashOf(request.tool, body.params);
    if (isConsumed(request)) {
      // A kill since then has called it off, so nothing that permits it is given out again.
      const isSame =
        request.attempt === body.attempt &&
        request.guardianEpoch === guardian.epoch &&
        at - request.consumedAt < SAME_ATTEMPT_MS;
      if (!isSame || request.status !== 'consumed') throw new AlreadyConsumed();
      if (asked !== request.paramsHash) throw otherParams(request);
      return request;
    }
    assertConsumable(request, at);
    if (asked !== request.paramsHash) throw otherParams(request);
    const basis = await this.decideAction.basisOf(request, guardian);
    if ((basis.tool?.status === 'active' ? basis.tool.fingerprint : null) !== request.fingerprint)
      throw new ToolChanged();
    const recheck = await this.decideAction.recheck(request, basis);
    if (recheck.verdict !== 'go') return this.refused(request, recheck);
    if (recheck.policy) {
      this.outcomes.note(request, GUARDIAN, {
        action: 'action.allowed',
        says: 'is still allowed by the standing orders',
        details: { again: true },
        policy: recheck.policy,
      });
    }
    return this.consumed(request, body.attempt, at, guardian.epoch);
  }

  /** What was allowed is not any more: it is denied, waits, or a person is asked. */
  private refused(request: ActionRequestEntity, recheck: Exclude<Recheck, { verdict: 'go' }>): Error {
    if (recheck.verdict === 'wait') return new GuardianHalted();
    const decided = this.decideAction.settle(request, recheck.policy, GUARDIAN);
    const { actionRequestId, status, approvalId, retryAt } = decided;
    if (status === 'denied') return new PolicyDenied({ details: { actionRequestId } });
    return notDecided({ approvalId, retryAt });
  }

  private consumed(
    request: ActionRequestEntity,
    attempt: string,
    at: number,
    guardianEpoch: number,
  ): PermittedRequest {
    const [actBy, completeBy] = [at + ACT_WITHIN_MS, at + request.completeInSeconds * 1_000];
    const { requestedBy } = request;
    const receiptId = this.outcomes.note(request, requestedBy, {
      action: 'action.consumed',
      says: 'was taken up, to be done once',
      details: { actBy, completeBy },
      guardianEpoch,
    });
    const changes = {
      status: 'consumed',
      attempt,
      consumedAt: at,
      guardianEpoch,
      actBy,
      completeBy,
      dueAt: completeBy,
      receiptId,
    } as const;
    this.requests.update(request, changes);
    return { ...request, ...changes };
  }

  /** @throws NotFound, Forbidden, InvalidTransition for what was not consumed, AlreadyExists for another result than the first */
  async report(
    caller: Caller,
    actionRequestId: string,
    body: ActionResultBody,
  ): Promise<ActionRequestEntity> {
    const { outcome, summary } = body;
    const output = body.output ?? null;
    if (Buffer.byteLength(JSON.stringify(output)) > MAX_OUTPUT_BYTES) {
      const message = 'output must not be larger than 8 KB';
      throw new ValidationFailed({ details: [{ path: 'output', rule: 'maxBytes', message }] });
    }
    const { request, at } = await this.requests.lockAt(caller.workspaceId, actionRequestId);
    if (!request) throw new NotFound();
    assertOwn(caller, request);
    const { result: former } = request;
    if (former && !former.foundBy) {
      const isSame = canonicalJson({ outcome, summary, output }) === canonicalJson(withoutTime(former));
      if (isSame) return request;
      throw new AlreadyExists({ message: 'The result of this action request has been reported already.' });
    }
    if (!former && request.status !== 'consumed' && request.status !== 'unconfirmed') {
      throw new InvalidTransition({
        message: 'Only what was consumed has a result.',
        details: { status: request.status },
      });
    }
    return this.outcomes.reported(request, actorOf(caller), { outcome, summary, output, at });
  }

  /**
   * Takes back what was not consumed.
   * @throws NotFound, Forbidden unless the caller asked or is an operator there, InvalidTransition for what was consumed
   */
  async cancel(caller: Caller, actionRequestId: string): Promise<ActionRequestEntity> {
    const { workspaceId } = caller;
    // The approval is locked before the request, as a decision does. While this waited, the policy may have asked for another one.
    const lockApproval = this.approvals.lockOfActionStatement(workspaceId, actionRequestId);
    const [, [request], approvals] = (await this.db.unit.batch([
      lockApproval,
      this.requests.lockStatement(workspaceId, actionRequestId),
      lockApproval,
    ])) as [unknown, [ActionRequestEntity?], UnrevisedApproval[]];
    if (!request) throw new NotFound();
    this.asking.assertMayCancel(caller, request);
    if (request.status === 'cancelled') return request;
    if (!UNCONSUMED.includes(request.status)) {
      throw new InvalidTransition({ details: { status: request.status } });
    }
    const by = actorOf(caller);
    const [cancelled] = await this.outcomes.withdraw([request], approvals, by, `${by.name} took it back`);
    return cancelled!;
  }
}

/** @throws Forbidden unless the token, or the one that it replaced, has asked */
function assertOwn(caller: Caller, request: ActionRequestEntity): void {
  if (caller.tokenRootId === request.tokenRootId) return;
  if (caller.agent) throw new NotFound();
  throw new Forbidden({ message: 'Only the token that asked, or the one that replaced it, may do this.' });
}

function isConsumed(request: ActionRequestEntity): request is PermittedRequest {
  return request.consumedAt !== null;
}

function notDecided(details: Pick<ActionRequestEntity, 'approvalId' | 'retryAt'>): Error {
  return new ApprovalNotReady({ message: 'Nobody has decided about this action request yet.', details });
}

function otherParams({ paramsHash }: ActionRequestEntity): Error {
  const message = 'These are not the parameters that were decided: use those of the action request.';
  return new ContentChanged({ message, details: { paramsHash } });
}

/** @throws ApprovalNotReady, ActionExpired, InvalidTransition */
function assertConsumable({ status, consumeBy, approvalId, retryAt }: ActionRequestEntity, at: number): void {
  if (status === 'pending') throw notDecided({ approvalId, retryAt });
  if (status === 'expired' || (consumeBy !== null && consumeBy <= at)) throw new ActionExpired();
  if (status !== 'allowed' && status !== 'approved') throw new InvalidTransition({ details: { status } });
}

function withoutTime({ at: _at, ...result }: ActionResult): Omit<ActionResult, 'at'> {
  return result;
}
