import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Approvals, type UnrevisedApproval } from '../approvals/index.js';
import {
  GUARDIAN,
  type GuardianAct,
  type GuardianEntity,
  Guardians,
  type Haltable,
  HaltableWork,
  type Halted,
  type HeldBack,
  isHalted,
} from '../guardian/index.js';
import { TokensStopped } from '../workspaces/index.js';
import type { ActionRequestEntity } from './action-request.entity.js';
import { ActionOutcomes, UNDECIDED } from './action-outcomes.js';
import { ActionRequests } from './action-requests.repository.js';
import { DecideAction } from './decide-action.js';

/** While halted nothing is decided; a paced request is looked at again after so long. */
const AGAIN_WHILE_HALTED_MS = 5_000;

/** What becomes of action requests without the agent: their time comes, the kill switch is engaged, their token is stopped. */
@Injectable()
export class ActionDeadlines implements Haltable, OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly haltableWork: HaltableWork,
    private readonly tokensStopped: TokensStopped,
    private readonly guardians: Guardians,
    private readonly decideAction: DecideAction,
    private readonly approvals: Approvals,
    private readonly requests: ActionRequests,
    private readonly outcomes: ActionOutcomes,
  ) {}

  onModuleInit(): void {
    this.haltableWork.register(this);
    this.tokensStopped.subscribe((workspaceId, roots, by) => this.withdraw(workspaceId, roots, by));
    this.work.declare({
      name: 'action.due',
      pool: 4,
      perQueue: 2,
      tries: 5,
      enqueueDue: 'app.enqueue_due_action_requests',
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    await this.db.transaction(scopeOfWork(item), async (unit) => {
      const [[guardian], [request], [{ at }]] = (await unit.batch([
        this.guardians.lockSharedStatement(workspaceId),
        this.requests.lockStatement(workspaceId, id),
        this.requests.nowStatement(),
      ])) as [[GuardianEntity], [ActionRequestEntity?], [{ at: number }]];
      if (request?.status === 'pending' && isHalted(guardian.mode)) {
        this.work.reschedule(item, AGAIN_WHILE_HALTED_MS);
        return;
      }
      this.work.complete(item);
      if (request && request.dueAt !== null && request.dueAt <= at) await this.due(request, guardian, at);
    });
  }

  /** It cannot be decided again, or ended in time: it ends, so that its agent does not wait for ever. */
  private async giveUp({ workspaceId, id }: WorkItem, { message }: WorkError): Promise<void> {
    const request = await this.requests.lock(workspaceId, id);
    if (!request || request.dueAt === null) return;
    if (request.status === 'consumed') await this.outcomes.unconfirmed(request);
    else await this.outcomes.expire(request, message, 'failure');
  }

  private async due(request: ActionRequestEntity, guardian: GuardianEntity, at: number): Promise<void> {
    if (request.status === 'consumed') return this.outcomes.unconfirmed(request);
    const { status, approvalId, expiresAt } = request;
    if (status !== 'pending') return this.outcomes.expire(request, 'It was not taken up in time.');
    // Its approval was ended without it (ApprovalSubject.endLater).
    if (approvalId !== null) return this.outcomes.expire(request, UNDECIDED);
    if (at < expiresAt) return this.decideAgain(request, guardian);
    return this.outcomes.expire(request, 'It was not its turn in time.');
  }

  /** A paced request: its turn has come. */
  private async decideAgain(request: ActionRequestEntity, guardian: GuardianEntity): Promise<void> {
    const basis = await this.decideAction.basisOf(request, guardian);
    const isKnown = basis.tool?.fingerprint === request.fingerprint;
    const policy = await this.decideAction.decide(request, request.params, { ...basis, isKnown });
    this.decideAction.settle(request, policy, GUARDIAN);
  }

  /** What may be consumed is void for good; what was consumed may have been done. The clocks of approvals are stopped with all others. */
  async halt(workspaceId: string, { receiptId }: GuardianAct): Promise<Halted> {
    const voided = await this.outcomes.voidAll(workspaceId, receiptId);
    const underWay = await this.requests.underWay(workspaceId);
    return {
      halted: { queued: 0, executing: 0, sending: 0, voided },
      unconfirmed: underWay.map(({ actionRequestId, teamId, consumedAt }) => ({
        actionRequestId,
        teamId,
        since: consumedAt!,
      })),
    };
  }

  heldBack(scope: Scope): Promise<HeldBack> {
    return this.requests.heldBack(scope);
  }

  /** Their tokens are paused or revoked: what they have not consumed is taken back, and so are their open questions. */
  async withdraw(workspaceId: string, tokenRootIds: readonly string[], by: Actor): Promise<void> {
    // Approvals are locked before requests, as a decision does. While this waited, the policy may have asked for others.
    const lockApprovals = this.approvals.lockOfTokensStatement(workspaceId, tokenRootIds);
    const [, requests, approvals] = (await this.db.unit.batch([
      lockApprovals,
      this.requests.lockOfTokensStatement(workspaceId, tokenRootIds),
      lockApprovals,
    ])) as [unknown, ActionRequestEntity[], UnrevisedApproval[]];
    await this.outcomes.withdraw(requests, approvals, by, `${by.name} stopped its token`);
  }
}
