import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, teamIn, where } from '../../platform/database/listing.js';
import { columnsOf, selectOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { HeldBack } from '../guardian/index.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { ActionRequestEntity } from './action-request.entity.js';
import type { ActionRequestsQuery } from './action-requests.dto.js';

const COLUMNS = columnsOf(ActionRequestEntity);
const LISTED = columnsOf(ActionRequestEntity, { without: ['params', 'run', 'decision', 'result'] });

/** What was stopped before it was consumed. */
export interface Withdrawn extends Pick<ActionRequestEntity, 'actionRequestId' | 'teamId' | 'title'> {
  requester: string;
}

@Injectable()
export class ActionRequests {
  constructor(private readonly db: Db) {}

  add(request: ActionRequestEntity): void {
    this.db.insert(ActionRequestEntity, request);
  }

  update({ workspaceId, actionRequestId }: ActionRequestEntity, changes: Partial<ActionRequestEntity>): void {
    this.db.update(ActionRequestEntity, { workspaceId, actionRequestId }, changes);
  }

  /** With `ofToken`, only what this token has asked for. */
  find(scope: Scope, actionRequestId: string, ofToken?: string): Promise<ActionRequestEntity | undefined> {
    const key = { workspaceId: scope.workspaceId, actionRequestId, tokenRootId: ofToken };
    return this.db.findOne(scope, ActionRequestEntity, key);
  }

  /** What this token has asked for by this name. */
  byExternalIdStatement(workspaceId: string, tokenRootId: string, externalId: string | null): Statement {
    return {
      text: `select ${COLUMNS} from action_requests where workspace_id = $1 and token_root_id = $2 and external_id = $3`,
      values: [workspaceId, tokenRootId, externalId],
    };
  }

  /** Those of this token that wait: one row each. */
  pendingStatement(workspaceId: string, tokenRootId: string, limit: number): Statement {
    return {
      text: `select from action_requests where workspace_id = $1 and token_root_id = $2 and status = 'pending' limit $3`,
      values: [workspaceId, tokenRootId, limit],
    };
  }

  lockStatement(workspaceId: string, actionRequestId: string): Statement {
    return selectOf(ActionRequestEntity, { workspaceId, actionRequestId }, 'for update');
  }

  lock(workspaceId: string, actionRequestId: string): Promise<ActionRequestEntity | undefined> {
    return this.db.lockOne(ActionRequestEntity, { workspaceId, actionRequestId }, 'for update');
  }

  /** Locks it, and reads the time of what is done with it. */
  async lockAt(
    workspaceId: string,
    actionRequestId: string,
  ): Promise<{ request: ActionRequestEntity | undefined; at: number }> {
    const [[request], [{ at }]] = (await this.db.unit.batch([
      this.lockStatement(workspaceId, actionRequestId),
      this.nowStatement(),
    ])) as [[ActionRequestEntity?], [{ at: number }]];
    return { request, at };
  }

  /** The time by which requests are consumed and end: the database's, as of all decisions. */
  nowStatement(): Statement {
    return { text: 'select app.clock() as at' };
  }

  /** What the guardian holds back of them: those that wait for a person are counted with all approvals. */
  async heldBack(scope: Scope): Promise<HeldBack> {
    const [row] = await this.db.read<HeldBack>(
      scope,
      `select 0 as pending, count(*)::int as blocked24h from action_requests
       where workspace_id = $1 and status = 'denied' and created_at > (select app.clock() - interval '24 hours')`,
      [scope.workspaceId],
    );
    return row!;
  }

  /** What a kill voids for good: everything that may be consumed. */
  void(workspaceId: string, because: string): Promise<Withdrawn[]> {
    return this.db.query<Withdrawn>(
      `update action_requests set status = 'cancelled', ended_because = $2, due_at = null
       where workspace_id = $1 and status in ('allowed', 'approved') returning action_request_id, team_id, title, requested_by->>'name' as requester`,
      [workspaceId, because],
    );
  }

  /** What has been consumed, and of which no result has come. */
  underWay(
    workspaceId: string,
  ): Promise<Pick<ActionRequestEntity, 'actionRequestId' | 'teamId' | 'consumedAt'>[]> {
    return this.db.query(
      `select action_request_id, team_id, consumed_at from action_requests where workspace_id = $1 and status = 'consumed'
       order by consumed_at`,
      [workspaceId],
    );
  }

  /** Locks what these tokens have asked for and not consumed. */
  lockOfTokensStatement(workspaceId: string, tokenRootIds: readonly string[]): Statement {
    return {
      text: `select ${COLUMNS} from action_requests where workspace_id = $1 and token_root_id = any($2)
         and status in ('pending', 'allowed', 'approved') order by action_request_id for update`,
      values: [workspaceId, tokenRootIds],
    };
  }

  /** Newest first. */
  list(
    scope: Scope,
    { status, tool, agent, teamId, ...paging }: ActionRequestsQuery,
    ofToken: string | undefined,
  ): Promise<Page<Omit<ActionRequestEntity, 'params' | 'run' | 'decision' | 'result'>>> {
    const filters = where({
      workspace_id: scope.workspaceId,
      status,
      tool,
      agent,
      team_id: teamIn(scope, teamId),
      token_root_id: ofToken,
    });
    const listing = {
      name: 'action requests',
      select: LISTED,
      from: 'action_requests',
      ...filters,
      order: newestFirst('action_request_id'),
    };
    return readPage(this.db, scope, listing, paging);
  }
}
