import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Statement } from '../../platform/database/batch.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { CLOCK_TOLERANCE_MS, LEASE_MS } from '../../platform/jobs/lease.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { FeedbackRound } from '../capos/briefing.js';
import type { HaltedCounts } from '../guardian/halting.js';
import type { CapoRole, Cost, DirectiveStatus } from '../terms/terms.js';
import { DirectiveEntity, type Routing, type Stage, type StatusChange } from './directive.entity.js';
import type { DirectivesQuery } from './directives.dto.js';

const COLUMNS = `directive_id, workspace_id, team_id, text, capo, routed_by, routing, priority, requires_approval, context,
  deadline, status, halted_from, stage, approval_id, work_packet_ids, output, engine, cost, error, feedback, history,
  created_by, created_at, started_at, executed_at, due_at, attempts`;

/** How much of a text stands in a list, in characters. */
const LISTED_TEXT = 500;
const SUMMARY = columnsOf(DirectiveEntity, {
  without: ['workspaceId', 'text', 'error', 'context', 'routing', 'output', 'feedback', 'history'],
});

/** A directive as lists show it: of texts only the beginning, of drafts and contexts nothing. */
export type ListedDirective = Omit<
  DirectiveEntity,
  'workspaceId' | 'context' | 'routing' | 'output' | 'feedback' | 'history'
>;

/** What a change of status writes besides; what is left out stays as it is. */
export interface Change {
  stage: Stage;
  dueAt: number | null;
  executedAt?: number;
  error?: { code: string; message: string };
  approvalId?: string;
  feedback?: readonly FeedbackRound[];
}

@Injectable()
export class Directives {
  constructor(private readonly db: Db) {}

  add(directive: DirectiveEntity): void {
    this.db.insert(DirectiveEntity, directive);
  }

  async find(scope: Scope, directiveId: string): Promise<DirectiveEntity | undefined> {
    const [row] = await this.db.read<DirectiveEntity>(
      scope,
      `select ${COLUMNS} from directives where workspace_id = $1 and directive_id = $2`,
      [scope.workspaceId, directiveId],
    );
    return row;
  }

  /**
   * Without its key: a packet that is updated twice in one transaction checks its foreign key again and so shares the
   * key of its directive; two such transactions that both locked the key would wait for each other.
   */
  async lock(workspaceId: string, directiveId: string): Promise<DirectiveEntity | undefined> {
    const [row] = await this.db.query<DirectiveEntity>(
      `select ${COLUMNS} from directives where workspace_id = $1 and directive_id = $2 for no key update`,
      [workspaceId, directiveId],
    );
    return row;
  }

  /** Takes the directive up for this stage; no row when it is not its turn. Sent along with the guardian's row. */
  claimStatement(workspaceId: string, directiveId: string, stage: 'route' | 'draft', at: number): Statement {
    return {
      text: `update directives set attempts = attempts + 1, due_at = $5, started_at = coalesce(started_at, $4),
          status = case when status = 'queued' then 'executing' else status end
        where workspace_id = $1 and directive_id = $2 and stage = $3 and due_at <= $6
          and status in ('pending_approval', 'queued', 'executing')
        returning ${COLUMNS}`,
      values: [
        workspaceId,
        directiveId,
        stage,
        new Date(at),
        new Date(at + LEASE_MS),
        new Date(at + CLOCK_TOLERANCE_MS),
      ],
    };
  }

  /** True when the directive still belongs to this attempt, which then keeps it for another lease. */
  async extendLease(scope: Scope, directiveId: string, attempt: number, at: number): Promise<boolean> {
    const [rows] = await this.db.writeAll(scope, [
      {
        text: `update directives set due_at = $4 where workspace_id = $1 and directive_id = $2 and attempts = $3
          and stage = 'draft' and due_at is not null returning 1`,
        values: [scope.workspaceId, directiveId, attempt, new Date(at + LEASE_MS)],
      },
    ]);
    return rows!.length > 0;
  }

  /** Locks the directive if it is still this attempt's; a late result finds nothing. */
  async lockAttempt(directive: DirectiveEntity): Promise<DirectiveEntity | undefined> {
    const [row] = await this.db.query<DirectiveEntity>(
      `select ${COLUMNS} from directives where workspace_id = $1 and directive_id = $2 and attempts = $3
         and stage = $4 and due_at is not null for no key update`,
      [directive.workspaceId, directive.directiveId, directive.attempts, directive.stage],
    );
    return row;
  }

  assign(directive: DirectiveEntity, capo: CapoRole, routing: Routing, at: number): void {
    this.db.write(
      `update directives set capo = $3, routing = $4::jsonb, stage = 'draft', due_at = $5, attempts = 0
       where workspace_id = $1 and directive_id = $2`,
      [directive.workspaceId, directive.directiveId, capo, JSON.stringify(routing), new Date(at)],
    );
  }

  attachDraft(
    directive: Pick<DirectiveEntity, 'workspaceId' | 'directiveId'>,
    draft: Pick<DirectiveEntity, 'output' | 'engine' | 'cost' | 'workPacketIds'>,
  ): void {
    this.db.write(
      `update directives set output = $3::jsonb, engine = $4::jsonb, cost = $5::jsonb, work_packet_ids = $6::jsonb,
         error = null where workspace_id = $1 and directive_id = $2`,
      [
        directive.workspaceId,
        directive.directiveId,
        JSON.stringify(draft.output),
        JSON.stringify(draft.engine),
        JSON.stringify(draft.cost),
        JSON.stringify(draft.workPacketIds),
      ],
    );
  }

  /** Moves a directive that the transaction has locked (itself or through its approval) to another status. */
  move(
    directive: Pick<DirectiveEntity, 'workspaceId' | 'directiveId'>,
    change: StatusChange,
    also: Change,
  ): void {
    this.db.write(
      `update directives set status = $3, history = history || $4::jsonb, stage = $5, due_at = $6, attempts = 0,
         halted_from = null, executed_at = coalesce($7, executed_at), error = coalesce($8::jsonb, error),
         approval_id = coalesce($9, approval_id), feedback = coalesce($10::jsonb, feedback)
       where workspace_id = $1 and directive_id = $2`,
      [
        directive.workspaceId,
        directive.directiveId,
        change.to,
        JSON.stringify(change.from === change.to ? [] : [change]),
        also.stage,
        also.dueAt && new Date(also.dueAt),
        also.executedAt === undefined ? null : new Date(also.executedAt),
        also.error === undefined ? null : JSON.stringify(also.error),
        also.approvalId ?? null,
        also.feedback === undefined ? null : JSON.stringify(also.feedback),
      ],
    );
  }

  /** Puts a failed attempt off until its next try. */
  postpone(directive: DirectiveEntity, dueAt: number, error: { code: string; message: string }): void {
    this.db.write(
      `update directives set due_at = $3, error = $4::jsonb where workspace_id = $1 and directive_id = $2`,
      [directive.workspaceId, directive.directiveId, new Date(dueAt), JSON.stringify(error)],
    );
  }

  /** What the drafts of the directive have cost so far. */
  charge({ workspaceId, directiveId }: DirectiveEntity, cost: Cost): void {
    this.db.write('update directives set cost = $3::jsonb where workspace_id = $1 and directive_id = $2', [
      workspaceId,
      directiveId,
      JSON.stringify(cost),
    ]);
  }

  /** Notes the first taking up of a directive that went from queued to executing. */
  appendHistory({ workspaceId, directiveId }: DirectiveEntity, change: StatusChange): void {
    this.db.write(
      'update directives set history = history || $3::jsonb where workspace_id = $1 and directive_id = $2',
      [workspaceId, directiveId, JSON.stringify([change])],
    );
  }

  /**
   * Stops all work (a kill): what was queued, executing or sending is halted; drafts for review keep their status but
   * lose their turn. Raising attempts makes the result of every run in progress void.
   */
  async halt(workspaceId: string, receiptId: string | null, at: number): Promise<HaltedCounts> {
    const rows = await this.db.query<{ haltedFrom: keyof HaltedCounts; count: number }>(
      `with stopped as (
         update directives set halted_from = status, status = 'halted', due_at = null, attempts = attempts + 1,
           history = history || jsonb_build_array(jsonb_build_object('from', status, 'to', 'halted', 'at', $2::bigint,
             'receiptId', $3::text))
         where workspace_id = $1 and status in ('queued', 'executing', 'sending') returning halted_from
       ), drafting as (
         update directives set due_at = null, attempts = attempts + 1
         where workspace_id = $1 and status = 'pending_approval' and stage in ('route', 'draft')
       )
       select halted_from, count(*) from stopped group by halted_from`,
      [workspaceId, at, receiptId],
    );
    const counts: HaltedCounts = { queued: 0, executing: 0, sending: 0 };
    for (const { haltedFrom, count } of rows) counts[haltedFrom] = count;
    return counts;
  }

  /** Takes exactly the halted work up again; answers what has to be woken. */
  resume(
    workspaceId: string,
    receiptId: string | null,
    at: number,
  ): Promise<Pick<DirectiveEntity, 'directiveId' | 'stage' | 'status' | 'teamId' | 'capo' | 'text'>[]> {
    return this.db.query(
      `update directives set
         status = case when status <> 'halted' then status when halted_from = 'executing' then 'queued' else halted_from end,
         halted_from = null,
         history = case when status <> 'halted' then history else history || jsonb_build_array(jsonb_build_object(
           'from', 'halted', 'to', case when halted_from = 'executing' then 'queued' else halted_from end,
           'at', $2::bigint, 'receiptId', $3::text)) end,
         due_at = case when stage in ('route', 'draft') then to_timestamp($2::float8 / 1000) end
       where workspace_id = $1 and (status = 'halted'
         or (status in ('pending_approval', 'queued', 'executing') and stage in ('route', 'draft') and due_at is null))
       returning directive_id, stage, status, team_id, capo, text`,
      [workspaceId, at, receiptId],
    );
  }

  /** Gives the capo's waiting directives their turn (after a pause). */
  async wakeCapo(workspaceId: string, capo: CapoRole, at: number): Promise<string[]> {
    const rows = await this.db.query<{ directiveId: string }>(
      `update directives set due_at = $3 where workspace_id = $1 and capo = $2 and stage = 'draft' and due_at is null
         and status in ('pending_approval', 'queued', 'executing') returning directive_id`,
      [workspaceId, capo, new Date(at)],
    );
    return rows.map((row) => row.directiveId);
  }

  /** Undoes a taking up at `at` and takes the turn away: the capo is paused, or the kill switch is engaged. */
  rest({ workspaceId, directiveId, history, startedAt }: DirectiveEntity, at: number): void {
    this.db.write(
      `update directives set due_at = null, attempts = attempts - 1, status = $3,
         started_at = case when $4 then null else started_at end
       where workspace_id = $1 and directive_id = $2`,
      [workspaceId, directiveId, history.at(-1)!.to, startedAt === at],
    );
  }

  list(scope: Scope, { status, capo, teamId, ...paging }: DirectivesQuery): Promise<Page<ListedDirective>> {
    const listing = {
      name: 'directives',
      select: `${SUMMARY}, left(ltrim(text, E' \\t\\r\\n'), ${LISTED_TEXT}) as text,
        case when error is not null then jsonb_build_object('code', error->>'code',
          'message', left(error->>'message', ${LISTED_TEXT})) end as error`,
      from: 'directives',
      ...where({ workspace_id: scope.workspaceId, status, capo, team_id: teamId }),
      order: newestFirst('directive_id'),
    };
    return readPage(this.db, scope, listing, paging);
  }

  /** The status alone. */
  async statusOf(workspaceId: string, directiveId: string): Promise<DirectiveStatus> {
    const [row] = await this.db.query<{ status: DirectiveStatus }>(
      'select status from directives where workspace_id = $1 and directive_id = $2',
      [workspaceId, directiveId],
    );
    return row!.status;
  }
}
