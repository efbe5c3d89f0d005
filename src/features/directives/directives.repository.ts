import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import {
  countByTally,
  newestFirst,
  pageOfEach,
  partsBy,
  readPage,
  where,
} from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Statement } from '../../platform/database/batch.js';
import { RequestContext } from '../../platform/kernel/request-context.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { FeedbackRound } from '../capos/index.js';
import type { HaltedCounts } from '../guardian/index.js';
import {
  CAPO_ROLES,
  type CapoRole,
  type Cost,
  DIRECTIVE_STATUSES,
  type DirectiveStatus,
} from '../terms/index.js';
import type { DirectiveChange, DirectivesQuery } from './directives.dto.js';
import { DirectiveEntity, type Routing } from './directive.entity.js';
import { sqlList } from '../../platform/kernel/transition-table.js';
import { DIRECTIVE_STATES, DRAFTING } from './directive-states.js';

const COLUMNS = columnsOf(DirectiveEntity);
const DRAFTING_SQL = sqlList(DRAFTING);

/** How much of a text stands in a list, in characters. */
const LISTED_TEXT = 500;
const SUMMARY = columnsOf(DirectiveEntity, {
  without: [
    'workspaceId',
    'text',
    'error',
    'context',
    'routing',
    'output',
    'feedback',
    'history',
    'escalationId',
  ],
});

/** So many directives say what one usually costs; those that no model drafted say nothing. */
const LAST_DRAFTED = 20;

const USUAL = /* sql */ `
select round(avg((cost->>'amount')::numeric), 6)::double precision as amount, max(cost->>'currency') as currency,
  round(avg((cost->>'tokensIn')::numeric))::double precision as tokens_in,
  round(avg((cost->>'tokensOut')::numeric))::double precision as tokens_out
from (
  select d.cost, d.engine from unnest($3::text[]) s (status) cross join lateral (
    select cost, engine, created_at, directive_id from directives
    where workspace_id = $1 and capo = $2 and status = s.status
    order by created_at desc, directive_id desc limit ${LAST_DRAFTED}) d
  order by d.created_at desc, d.directive_id desc limit ${LAST_DRAFTED}) last
where engine->>'model' is not null
having count(*) > 0`;

/** A directive as lists show it: of texts only the beginning, of drafts and contexts nothing. */
export type ListedDirective = Omit<
  DirectiveEntity,
  'workspaceId' | 'context' | 'routing' | 'output' | 'feedback' | 'history' | 'escalationId'
>;

/** What a transition writes besides; what is left out stays as it is. */
export interface Change {
  error?: DirectiveEntity['error'];
  approvalId?: string;
  feedback?: readonly FeedbackRound[];
}

/** Who asked first, and every member who may be that person. */
export interface Requester {
  requestedBy: Actor;
  requesterIds: string[];
}

type Key = Pick<DirectiveEntity, 'workspaceId' | 'directiveId'>;

@Injectable()
export class Directives {
  constructor(private readonly db: Db) {}

  add(directive: DirectiveEntity): void {
    this.db.insert(DirectiveEntity, directive);
  }

  /** What the open transaction enqueues from here on belongs to the trace of the hand-in, not to that of who decided. */
  continueTrace(directiveId: string): void {
    if (!RequestContext.current?.trace) return;
    this.db.write(
      `select set_config('app.traceparent', traceparent, true) from directives
       where workspace_id = $1 and directive_id = $2 and traceparent is not null`,
      [this.db.unit.scope.workspaceId, directiveId],
    );
  }

  find(scope: Scope, directiveId: string): Promise<DirectiveEntity | undefined> {
    return this.db.findOne(scope, DirectiveEntity, { workspaceId: scope.workspaceId, directiveId });
  }

  /** When the first packet of the directive that standing orders delay is decided again; null where they delay none. */
  async throttledUntil(scope: Scope, directiveId: string): Promise<number | null> {
    const [row] = await this.db.read<{ until: number | null }>(
      scope,
      `select min(throttled_until) as until from work_packets
       where workspace_id = $1 and directive_id = $2 and status = 'queued'`,
      [scope.workspaceId, directiveId],
    );
    return row!.until;
  }

  /** Who asked for a directive that exists, and until when. */
  async requesterOf(
    workspaceId: string,
    directiveId: string,
  ): Promise<Requester & Pick<DirectiveEntity, 'deadline'>> {
    const [row] = await this.db.query<Requester & Pick<DirectiveEntity, 'deadline'>>(
      `select coalesce(requested_by, created_by) as requested_by, requester_ids, deadline from directives
         where workspace_id = $1 and directive_id = $2`,
      [workspaceId, directiveId],
    );
    return row!;
  }

  /**
   * Locks the directive without its key: a packet that is updated twice in one transaction checks its foreign key again
   * and so shares the key of its directive; two such transactions that both locked the key would wait for each other.
   */
  lock(workspaceId: string, directiveId: string): Promise<DirectiveEntity | undefined> {
    return this.db.lockOne(DirectiveEntity, { workspaceId, directiveId }, 'for no key update');
  }

  /** Locks a directive that a capo may still draft; no row for any other. */
  lockDraftingStatement(workspaceId: string, directiveId: string): Statement {
    return {
      text: `select ${COLUMNS} from directives where workspace_id = $1 and directive_id = $2 and status in ${DRAFTING_SQL}
        for no key update`,
      values: [workspaceId, directiveId],
    };
  }

  /** Writes a transition that DirectiveTransitions has looked up; nothing else changes a status, but a kill and a revert. */
  transition(directive: Key, change: DirectiveChange, { error, approvalId, feedback }: Change): void {
    this.db.write(
      `update directives set status = $4, history = history || $5::jsonb, halted_from = null,
         executed_at = case when $4 = 'executed' then $6 else executed_at end,
         error = coalesce($7::jsonb, error), approval_id = coalesce($8, approval_id),
         feedback = coalesce($9::jsonb, feedback)
       where workspace_id = $1 and directive_id = $2 and status = $3`,
      [
        directive.workspaceId,
        directive.directiveId,
        change.from,
        change.to,
        JSON.stringify([change]),
        new Date(change.at),
        error === undefined ? null : JSON.stringify(error),
        approvalId ?? null,
        feedback === undefined ? null : JSON.stringify(feedback),
      ],
    );
  }

  /** Sets what has no part in the states: the routing, the draft, what it has cost. */
  update({ workspaceId, directiveId }: Key, changes: Partial<Omit<DirectiveEntity, 'status'>>): void {
    this.db.update(DirectiveEntity, { workspaceId, directiveId }, changes);
  }

  assign(directive: Key, capo: CapoRole, routing: Routing): void {
    this.update(directive, { capo, routing });
  }

  attachDraft(
    directive: Key,
    draft: Pick<DirectiveEntity, 'output' | 'engine' | 'cost' | 'workPacketIds'>,
  ): void {
    this.update(directive, { ...draft, error: null });
  }

  /** What the drafts of the directive have cost so far, and why the last one failed. */
  chargeFailure(directive: Key, cost: Cost, error: { code: string; message: string }): void {
    this.update(directive, { cost, error });
  }

  /** Halts what the kill switch halts; drafts for review keep their status. Answers how many were in which. */
  async halt(workspaceId: string, receiptId: string, at: number): Promise<HaltedCounts> {
    const rows = await this.db.query<{ haltedFrom: keyof HaltedCounts; count: number }>(
      `with stopped as (
         update directives set halted_from = status, status = 'halted',
           history = history || jsonb_build_array(jsonb_build_object('from', status, 'to', 'halted', 'at', $2::bigint,
             'receiptId', $3::text))
         where workspace_id = $1 and status in ${DIRECTIVE_STATES.sourcesSql('kill')} returning halted_from
       )
       select halted_from, count(*) from stopped group by halted_from`,
      [workspaceId, at, receiptId],
    );
    const counts: HaltedCounts = { queued: 0, executing: 0, sending: 0, voided: 0 };
    for (const { haltedFrom, count } of rows) counts[haltedFrom] = count;
    return counts;
  }

  /** Lets exactly the halted ones go on; answers them as they are now. */
  resume(
    workspaceId: string,
    receiptId: string,
    at: number,
  ): Promise<Pick<DirectiveEntity, 'directiveId' | 'status' | 'teamId' | 'capo' | 'text' | 'deadline'>[]> {
    const [queued, sending] = [
      DIRECTIVE_STATES.next('halted', 'resume'),
      DIRECTIVE_STATES.next('halted', 'resume_sending'),
    ];
    return this.db.query(
      `update directives d set status = next.status, halted_from = null,
         history = d.history || jsonb_build_array(jsonb_build_object('from', 'halted', 'to', next.status,
           'at', $2::bigint, 'receiptId', $3::text))
       from (select directive_id, case halted_from when $5 then $5 else $4 end as status
         from directives where workspace_id = $1 and status = 'halted' order by directive_id for no key update) next
       where d.directive_id = next.directive_id
       returning d.directive_id, d.status, d.team_id, d.capo, d.text, d.deadline`,
      [workspaceId, at, receiptId, queued, sending],
    );
  }

  /** Locks the directives that a capo may still draft, always in one order. */
  async lockOpenOf(workspaceId: string, capo: CapoRole): Promise<string[]> {
    const rows = await this.db.query<{ directiveId: string }>(
      `select directive_id from directives where workspace_id = $1 and capo = $2 and status in ${DRAFTING_SQL}
       order by directive_id for no key update`,
      [workspaceId, capo],
    );
    return rows.map((row) => row.directiveId);
  }

  list(
    scope: Scope,
    { status, capo, scheduleId, teamId, ...paging }: DirectivesQuery,
  ): Promise<Page<ListedDirective>> {
    const filters = where({
      workspace_id: scope.workspaceId,
      schedule_id: scheduleId,
      status,
      capo,
      team_id: teamId,
    });
    const order = newestFirst('directive_id');
    // The index has status and capo in front of the time.
    const parts =
      status === undefined
        ? partsBy('status', DIRECTIVE_STATUSES)
        : [...partsBy('capo', CAPO_ROLES), 'capo is null'];
    const isMerged = scheduleId === undefined && (status === undefined) !== (capo === undefined);
    const listing = {
      name: 'directives',
      select: `${SUMMARY}, left(ltrim(text, E' \\t\\r\\n'), ${LISTED_TEXT}) as text,
        case when error is not null then jsonb_strip_nulls(jsonb_build_object('code', error->>'code',
          'message', left(error->>'message', ${LISTED_TEXT}), 'nextStep', error->>'nextStep')) end as error`,
      from: 'directives',
      ...filters,
      order,
      ...(isMerged && { page: pageOfEach('directives', 'directive_id', parts, filters.where, order) }),
      // The runs of one schedule are few, and no tally has them.
      ...(scheduleId === undefined && {
        count: countByTally(
          'directives',
          { workspaceId: scope.workspaceId, teamId },
          { statuses: status && [status], beside: capo },
        ),
      }),
    };
    return readPage(this.db, scope, listing, paging);
  }

  /** The failed ones that an escalation stands for. */
  async failedOf(workspaceId: string, escalationId: string): Promise<string[]> {
    const rows = await this.db.query<{ directiveId: string }>(
      `select directive_id from directives where workspace_id = $1 and escalation_id = $2 and status = 'failed'`,
      [workspaceId, escalationId],
    );
    return rows.map(({ directiveId }) => directiveId);
  }

  /** The status alone. */
  async statusOf(workspaceId: string, directiveId: string): Promise<DirectiveStatus> {
    const [row] = await this.db.query<{ status: DirectiveStatus }>(
      'select status from directives where workspace_id = $1 and directive_id = $2',
      [workspaceId, directiveId],
    );
    return row!.status;
  }

  /** The mean of the last directives that a model drafted for this capo; null when there is none. */
  async usualCost(workspaceId: string, capo: CapoRole): Promise<Cost | null> {
    const [usual] = await this.db.read<Cost>({ workspaceId, teamIds: 'all' }, USUAL, [
      workspaceId,
      capo,
      DIRECTIVE_STATUSES,
    ]);
    return usual ?? null;
  }
}
