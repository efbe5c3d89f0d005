import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { SuggestionDecisionEntity } from './suggestion-decision.entity.js';

/** Any number no other use of advisory locks has. */
const LOCK = 20;

@Injectable()
export class Suggestions {
  constructor(private readonly db: Db) {}

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
