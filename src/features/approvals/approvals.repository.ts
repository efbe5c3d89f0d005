import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import {
  countByTally,
  type Listing,
  newestFirst,
  pageOfEach,
  partsBy,
  readPage,
  type SortKey,
  teamIn,
  where,
} from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Statement } from '../../platform/database/batch.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { Work } from '../../platform/work/work.js';
import type { CapoRole } from '../terms/index.js';
import { APPROVAL_EXPIRING, Escalations } from '../escalations/index.js';
import { type ApprovalDecision, Events } from '../events/index.js';
import { CLOCKS_STOPPED_AT } from '../guardian/index.js';
import {
  APPROVAL_STATUSES,
  ApprovalEntity,
  type ListedApproval,
  type UnrevisedApproval,
} from './approval.entity.js';
import type { ApprovalsQuery } from './approvals.dto.js';
import { agentOf, quotedTitle } from './approval.js';
import { becauseOf, escalationTime } from './approval-expiry.js';
import type { Answer } from './question.js';
import { pendingListing } from './pending-approvals.js';

/** {@link ApprovalEntity.frozenMs} in the select list of a statement on `approvals`, whose $1 is the workspace. */
export const FROZEN_MS = `case when status = 'pending' and ${CLOCKS_STOPPED_AT} is not null then greatest(0,
  round(extract(epoch from expires_at - greatest(requested_at, ${CLOCKS_STOPPED_AT})) * 1000))::bigint end as frozen_ms`;

/** The columns of a statement on `approvals`, whose $1 is the workspace. */
export function columnsOfApproval(...without: readonly (keyof ApprovalEntity)[]): string {
  return `${columnsOf(ApprovalEntity, { without })}, ${FROZEN_MS}`;
}

const COLUMNS = columnsOfApproval();

/** The work of {@link MissingApprovers}; changes of members enqueue it, too (app.check_approvers). */
export const CHECK_APPROVERS = 'approval.approvers';

/** How much of a text stands in a list, in characters. */
const LISTED_TEXT = 500;
/** The approved content is in the single record, which the approver has read. */
const LISTED = `${columnsOfApproval(
  'workspaceId',
  'question',
  'answer',
  'summary',
  'output',
  'packets',
  'policy',
  'feedback',
  'concerns',
  'revisions',
  'lastEditedBy',
  'escalatesAt',
  'escalationId',
  'extensions',
)}, left(summary, ${LISTED_TEXT}) as summary, left(feedback, ${LISTED_TEXT}) as feedback`;

/** So many bytes of contents are answered at once, and one content of any size. */
const CONTENTS_BYTES = 4_000_000;

/** What a decision is made on: earlier contents decide nothing, and a hundred approvals may hold 200 MB of them. */
const DECIDED = columnsOfApproval('revisions');

/** The draft that makes an approval ready. */
export type ReadyContent = Pick<
  ApprovalEntity,
  | 'capo'
  | 'summary'
  | 'risk'
  | 'concerns'
  | 'reversibility'
  | 'output'
  | 'packets'
  | 'inputsNeeded'
  | 'contentHash'
  | 'policy'
  | 'expiresAt'
  | 'onExpiry'
  | 'selfApproval'
  | 'quorum'
  | 'approvers'
>;

/** What an edit replaces; the title where it is made of what was edited. */
export type EditedContent = Omit<ReadyContent, 'capo' | 'concerns'> & Partial<Pick<ApprovalEntity, 'title'>>;

/** A figure of the metrics: the approvals that wait for the draft, and those that wait for a person. */
export const waitingStatement = (): Statement => ({
  text: `select s as label, coalesce(sum(t.n), 0) as value
    from (values ('ready', 'ready'), ('drafting', 'pending')) state (s, status)
    left join app.tally_of_all('approvals') t on split_part(t.key, ' ', 1) = status group by s`,
});

const DECISIONS = {
  approved: 'approved',
  rejected: 'rejected',
  changes_requested: 'changed',
  expired: 'expired',
  cancelled: 'cancelled',
} as const satisfies Partial<Record<ApprovalEntity['status'], ApprovalDecision>>;

const NEWEST_FIRST = newestFirst('approval_id', 'requested_at');

export const pageOfEveryStatus = (condition: string, order: readonly SortKey[]) =>
  pageOfEach('approvals', 'approval_id', partsBy('status', APPROVAL_STATUSES), condition, order);

@Injectable()
export class Approvals {
  constructor(
    private readonly db: Db,
    private readonly escalations: Escalations,
    private readonly events: Events,
    private readonly work: Work,
  ) {}

  add(approval: ApprovalEntity): void {
    this.db.insert(ApprovalEntity, approval);
  }

  async find(scope: Scope, approvalId: string): Promise<ApprovalEntity | undefined> {
    const [approval] = await this.db.read<ApprovalEntity>(
      scope,
      `select ${COLUMNS} from approvals where workspace_id = $1 and approval_id = $2`,
      [scope.workspaceId, approvalId],
    );
    return approval;
  }

  /** Those of these approvals that fit into an answer, at least one, with revisions that tell who edited and not what. */
  contents(scope: Scope, approvalIds: readonly string[]): Promise<ApprovalEntity[]> {
    return this.db.read<ApprovalEntity>(
      scope,
      `select ${DECIDED}, (select coalesce(jsonb_agg(r || '{"changes": []}' order by n), '[]')
          from jsonb_array_elements(revisions) with ordinality as each (r, n)) as revisions
       from (select *, row_number() over kept as place, sum(octet_length(packets::text)
           + coalesce(octet_length(output::text), 0)) over kept as bytes from approvals
         where workspace_id = $1 and approval_id = any($2) window kept as (order by approval_id)) approvals
       where place = 1 or bytes <= ${CONTENTS_BYTES} order by approval_id`,
      [scope.workspaceId, approvalIds],
    );
  }

  /** Locks these approvals to be decided, always in one order so that two decisions cannot wait for each other. */
  lockStatement(workspaceId: string, approvalIds: readonly string[]): Statement {
    return {
      text: `select ${DECIDED} from approvals where workspace_id = $1 and approval_id = any($2)
        order by approval_id for update`,
      values: [workspaceId, approvalIds],
    };
  }

  /** Locks an approval to be edited, with what it was before. */
  lockToEditStatement(workspaceId: string, approvalId: string): Statement {
    return {
      text: `select ${COLUMNS} from approvals where workspace_id = $1 and approval_id = $2 for update`,
      values: [workspaceId, approvalId],
    };
  }

  /** {@link lockStatement} by itself. */
  lock(workspaceId: string, approvalIds: readonly string[]): Promise<UnrevisedApproval[]> {
    const { text, values } = this.lockStatement(workspaceId, approvalIds);
    return this.db.query(text, values);
  }

  /** Locks the pending approval of a directive, if there is one. */
  async lockPending(workspaceId: string, directiveId: string): Promise<ApprovalEntity | undefined> {
    const { text, values } = this.lockPendingStatement(workspaceId, directiveId);
    const [row] = await this.db.query<ApprovalEntity>(text, values);
    return row;
  }

  lockPendingStatement(workspaceId: string, directiveId: string): Statement {
    return {
      // The status stands in the statement: a plan made for any status could not use the index of the pending ones.
      text: `select ${COLUMNS} from approvals where workspace_id = $1 and directive_id = $2 and status = 'pending' for update`,
      values: [workspaceId, directiveId],
    };
  }

  /** Locks the pending approval of an action request, if there is one. */
  lockOfActionStatement(workspaceId: string, actionRequestId: string): Statement {
    return {
      text: `select ${DECIDED} from approvals where workspace_id = $1 and action_request_id = $2 and status = 'pending' for update`,
      values: [workspaceId, actionRequestId],
    };
  }

  /** Locks what these tokens have asked for and nobody has decided: action requests and questions, in the one order. */
  lockOfTokensStatement(workspaceId: string, tokenRootIds: readonly string[]): Statement {
    return {
      text: `select ${DECIDED} from approvals where workspace_id = $1 and status = 'pending'
         and approval_id = any(array(select app.approvals_of_tokens($1, $2))) order by approval_id for update`,
      values: [workspaceId, tokenRootIds],
    };
  }

  /** Names the capo that drafts, while the draft of a locked approval is still awaited. */
  assign({ workspaceId, approvalId }: ApprovalEntity, capo: CapoRole): void {
    this.db.update(ApprovalEntity, { workspaceId, approvalId, status: 'pending' }, { capo });
  }

  /** Attaches the draft to an approval that the transaction has locked. */
  makeReady(
    workspaceId: string,
    approvalId: string,
    content: ReadyContent & Pick<ApprovalEntity, 'revisions' | 'groupKey' | 'escalatesAt'>,
  ): void {
    const key = { workspaceId, approvalId, status: 'pending' as const };
    this.db.update(ApprovalEntity, key, { ...content, ready: true });
    this.checkApprovers({ ...content, approvalId });
  }

  /** Replaces the content of an approval that the transaction has locked. */
  edit(
    { workspaceId, approvalId, requestedAt, onExpiry, escalatesAt, escalationId }: ApprovalEntity,
    content: EditedContent & Pick<ApprovalEntity, 'revisions' | 'lastEditedBy' | 'requesterIds' | 'groupKey'>,
  ): void {
    const isToEscalate = content.onExpiry === 'escalate' && (escalatesAt !== null || onExpiry === 'reject');
    this.db.update(
      ApprovalEntity,
      { workspaceId, approvalId, status: 'pending' },
      {
        ...content,
        votes: {},
        ...(isToEscalate && { escalatesAt: escalationTime(requestedAt, content.expiresAt) }),
      },
    );
    this.checkApprovers({ ...content, approvalId });
    if (escalationId !== null) this.moveDue(workspaceId, 'approval_id = $2', approvalId);
  }

  /** Notes a vote that decides nothing yet, on an approval that the transaction has locked. */
  vote({ workspaceId, approvalId }: UnrevisedApproval, votes: ApprovalEntity['votes']): void {
    this.db.update(ApprovalEntity, { workspaceId, approvalId, status: 'pending' }, { votes });
  }

  setMissingApprovers({ workspaceId, approvalId }: UnrevisedApproval, missingApprovers: number): void {
    this.db.update(ApprovalEntity, { workspaceId, approvalId }, { missingApprovers });
  }

  /** Enqueues the check that enough members may approve it; not where any one may. */
  private checkApprovers({
    approvalId,
    quorum,
    approvers,
  }: Pick<ApprovalEntity, 'approvalId' | 'quorum' | 'approvers'>): void {
    if (quorum > 1 || approvers.length > 0) this.work.enqueue(CHECK_APPROVERS, { id: approvalId });
  }

  /** A person has been told that it is about to expire. */
  escalate({ workspaceId, approvalId }: UnrevisedApproval, escalationId: string | null): void {
    const key = { workspaceId, approvalId, status: 'pending' as const };
    this.db.update(ApprovalEntity, key, { escalatesAt: null, escalationId });
  }

  /** The escalation about its end is decided; it is not what ends with the approval any more. */
  detachEscalation({ workspaceId, approvalId }: Pick<ApprovalEntity, 'workspaceId' | 'approvalId'>): void {
    this.db.update(ApprovalEntity, { workspaceId, approvalId }, { escalationId: null });
  }

  /** Gives an approval that the transaction has locked more time. */
  extend(
    { workspaceId, approvalId, extensions }: UnrevisedApproval,
    time: Pick<ApprovalEntity, 'expiresAt' | 'escalatesAt'>,
  ): void {
    const key = { workspaceId, approvalId, status: 'pending' as const };
    this.db.update(ApprovalEntity, key, { ...time, extensions: extensions + 1, escalationId: null });
  }

  /** Ends an approval that the transaction has locked: every end goes through here, and is published. */
  end(
    approval: UnrevisedApproval,
    end: {
      status: keyof typeof DECISIONS;
      by: Actor;
      at: number;
      feedback: string | null;
      receiptId: string;
      nextApprovalId?: string | null;
      answer?: Answer | null;
      votes?: ApprovalEntity['votes'];
    },
  ): void {
    const { workspaceId, approvalId } = approval;
    const { status, by, at, feedback, receiptId, nextApprovalId = null } = end;
    const { answer = null, votes = approval.votes } = end;
    this.events.record('approval.decided', {
      approvalId,
      kind: approval.kind,
      entityId: (approval.directiveId ?? approval.actionRequestId ?? approval.questionId)!,
      title: approval.title,
      tool: approval.kind === 'action' ? approval.packets[0]!.action.type : null,
      agent: agentOf(approval),
      decision: answer === null ? DECISIONS[status] : 'answered',
      status,
      contentHash: approval.contentHash,
      decidedBy: by,
      decidedAt: at,
      feedback,
      receiptId,
    });
    this.db.update(
      ApprovalEntity,
      { workspaceId, approvalId },
      {
        status,
        decidedAt: at,
        decidedBy: by,
        decidedVia: by.via,
        feedback,
        receiptId,
        nextApprovalId,
        answer,
        votes,
      },
    );
    if (approval.missingApprovers > 0) this.work.enqueue(CHECK_APPROVERS, { id: approvalId });
    const { escalationId, teamId, directiveId } = approval;
    if (escalationId === null) return;
    const about = { entityType: 'approval', entityId: approvalId, kind: APPROVAL_EXPIRING } as const;
    this.escalations.resolve(
      { escalationId, teamId, directiveId, ...about },
      becauseOf(status, by, quotedTitle(approval)),
    );
    this.detachEscalation(approval);
  }

  /** The time came for one whose clock a kill has stopped: nobody looks for it again before {@link unfreeze}. */
  rest({ workspaceId, approvalId, frozenMs }: UnrevisedApproval): void {
    this.db.update(ApprovalEntity, { workspaceId, approvalId, status: 'pending' }, { frozenMs });
  }

  /**
   * Lets the clock of every pending approval go on with the time that was left when the kill stopped it, or when it was
   * asked for if the kill had come before, but not beyond the deadline. The guardian still says when that was.
   */
  unfreeze(workspaceId: string, at: number): void {
    const expiresAt = `least(deadline, $2::timestamptz
      + greatest(interval '0', expires_at - greatest(requested_at, ${CLOCKS_STOPPED_AT})))`;
    this.db.write(
      `update approvals set frozen_ms = null, expires_at = ${expiresAt},
         escalates_at = escalates_at + (${expiresAt} - expires_at)
       where workspace_id = $1 and status = 'pending'`,
      [workspaceId, new Date(at)],
    );
    this.moveDue(workspaceId, `status = 'pending' and $2::text is null`, null);
  }

  /** What is open about the end of these approvals falls due with them. */
  private moveDue(workspaceId: string, which: string, value: string | null): void {
    this.escalations.moveDue(APPROVAL_EXPIRING, {
      text: `select approval_id as entity_id, expires_at as due_at from approvals
        where workspace_id = $1 and escalation_id is not null and ${which}`,
      values: [workspaceId, value],
    });
  }

  /** Urgent and oldest first, as of `at`; of another status, or of all, newest first. */
  list(scope: Scope, query: ApprovalsQuery, at: number): Promise<Page<ListedApproval>> {
    const { capo, urgent, group, ...paging } = query;
    const teamId = teamIn(scope, query.teamId);
    const status = query.status === 'all' && urgent !== undefined ? 'pending' : query.status;
    const isAll = status === 'all';
    const { workspaceId } = scope;
    const filters = where({
      workspace_id: workspaceId,
      status: isAll ? undefined : status,
      capo,
      team_id: teamId,
      group_key: group,
    });
    // The tally tells apart what is pending with its draft and without.
    const statuses = status === 'pending' ? ['pending', 'ready'] : isAll ? undefined : [status];
    const tally = countByTally('approvals', { workspaceId, teamId }, { statuses, beside: capo });
    // No tally is kept by group: those of one are counted.
    const count = group === undefined && { count: tally };
    if (status === 'pending') {
      const pending = pendingListing(LISTED, filters, { urgent, at });
      return readPage(this.db, scope, { ...(urgent === undefined && count), ...pending }, paging);
    }
    const listing: Listing = {
      name: `approvals ${status}`,
      select: LISTED,
      from: 'approvals',
      // Only what is pending can be urgent.
      where: urgent ? `${filters.where} and false` : filters.where,
      values: filters.values,
      order: NEWEST_FIRST,
      ...(!urgent && count),
      ...(isAll && { page: pageOfEveryStatus(filters.where, NEWEST_FIRST) }),
    };
    return readPage(this.db, scope, listing, paging);
  }
}
