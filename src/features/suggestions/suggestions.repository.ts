import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { DecidedApproval } from './suggestion.js';
import { SuggestionDecisionEntity } from './suggestion-decision.entity.js';

/** So many of the last decisions are looked at; who decides more often than that sees what the newest of them have in common. */
const LOOKED_AT = 1_000;

/** Of the parameters only what makes a shape: a mail may be 50 KB long. */
const DECIDED = /* sql */ `
select a.approval_id, a.team_id, a.capo, a.status, a.decided_at, a.is_edited,
  (select coalesce(jsonb_agg(jsonb_build_object(
      'type', p #>> '{action,type}',
      'target', p #>> '{action,target}',
      'amount', case when jsonb_typeof(p #> '{action,params,amount}') = 'number' then p #> '{action,params,amount}' end,
      'currency', p #>> '{action,params,currency}',
      'recipients', jsonb_array_length(jsonb_path_query_array(p, '$.action.params.to[*]'))
        + jsonb_array_length(jsonb_path_query_array(p, '$.action.params.cc[*]')))), '[]')
    from jsonb_array_elements(a.packets) p) as packets
from (
  select approval_id, team_id, capo, status, decided_at, packets, jsonb_array_length(revisions) > 1 as is_edited
  from approvals
  where workspace_id = $1 and status in ('approved', 'rejected', 'changes_requested') and decided_at > $2
    and kind = 'output' and capo is not null
  order by decided_at desc limit ${LOOKED_AT}
) a`;

/** Any number no other use of advisory locks has. */
const LOCK = 20;

@Injectable()
export class Suggestions {
  constructor(private readonly db: Db) {}

  /** What people have decided since then, newest first, of the teams that the scope sees. */
  decidedSince(scope: Scope, since: number): Promise<DecidedApproval[]> {
    return this.db.read(scope, DECIDED, [scope.workspaceId, new Date(since)]);
  }

  /** Those of these suggestions that somebody has decided about. */
  async decidedOf(scope: Scope, suggestionIds: readonly string[]): Promise<Set<string>> {
    if (suggestionIds.length === 0) return new Set();
    const rows = await this.db.read<{ suggestionId: string }>(
      scope,
      'select suggestion_id from suggestion_decisions where workspace_id = $1 and suggestion_id = any($2)',
      [scope.workspaceId, suggestionIds],
    );
    return new Set(rows.map(({ suggestionId }) => suggestionId));
  }

  /** What was decided about a suggestion; nobody else decides about it until the open transaction has ended. */
  async lockDecision(suggestionId: string): Promise<SuggestionDecisionEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    await this.db.query(`select pg_advisory_xact_lock(hashtextextended($1 || $2, ${LOCK}))`, [
      workspaceId,
      suggestionId,
    ]);
    return this.db.findOne(this.db.unit.scope, SuggestionDecisionEntity, { workspaceId, suggestionId });
  }

  addDecision(decision: Omit<SuggestionDecisionEntity, 'workspaceId'>): void {
    this.db.insert(SuggestionDecisionEntity, { ...decision, workspaceId: this.db.unit.scope.workspaceId });
  }
}
