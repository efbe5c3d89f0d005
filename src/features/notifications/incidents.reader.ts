import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';

/** A directive that failed, or a kill or its end. */
export type Incident = { id: string; revision: string; teamId: string | null; at: number } & (
  | { text: string; error: { message: string; nextStep?: string }; priority: string; askedBy: string | null }
  | { text: null; action: 'guardian.killed' | 'guardian.reverted'; /** Of the receipt. */ body: string }
);

/** A capo hands on for somebody, and that member is told. A kill is rare, so the index of the actions finds its receipt. */
const INCIDENTS = /* sql */ `
select directive_id as id, history->-1->>'receiptId' as revision, team_id, (history->-1->>'at')::float8 as at,
  text, error, priority, coalesce(requested_by, created_by)->>'id' as asked_by, null as action, null as body
from directives where workspace_id = $1 and directive_id = any($2) and status = 'failed' and error is not null
union all
select receipt_id, receipt_id, null, app.ms(at)::float8, null, null, null, null, action, body
from receipts where workspace_id = $1 and action in ('guardian.killed', 'guardian.reverted') and receipt_id = any($2)`;

@Injectable()
export class IncidentsReader {
  constructor(private readonly db: Db) {}

  read(scope: Scope, ids: readonly string[]): Promise<Incident[]> {
    return this.db.read(scope, INCIDENTS, [scope.workspaceId, ids]);
  }
}
