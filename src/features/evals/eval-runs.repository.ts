import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { EvalRunEntity } from './eval-run.entity.js';
import type { EvalRunPage, EvalRunSummary, EvalRunView, EvalsQuery } from './evals.dto.js';

/** Findings may be many; they stand in the single record. */
const LISTED = columnsOf(EvalRunEntity, { without: ['workspaceId', 'findings', 'findingsOmitted'] });

/** What ran is never changed: the application may add rows and read them. */
@Injectable()
export class EvalRuns {
  constructor(private readonly db: Db) {}

  /** Adds a run in the open transaction; the row is written with what comes next. */
  add(run: EvalRunEntity): void {
    this.db.insert(EvalRunEntity, run);
  }

  /** The runs that the caller may see, newest first. */
  list(scope: Scope, query: EvalsQuery): Promise<EvalRunPage> {
    const { kind, targetEntityId, passed, teamId, ...paging } = query;
    const listing = {
      name: 'evals',
      select: LISTED,
      from: 'eval_runs',
      ...where({
        workspace_id: scope.workspaceId,
        kind,
        target_entity_id: targetEntityId,
        passed,
        team_id: teamId,
      }),
      order: newestFirst('eval_run_id'),
    };
    return readPage<EvalRunSummary>(this.db, scope, listing, paging);
  }

  /** @throws NotFound for a run that the caller may not see */
  async get(scope: Scope, evalRunId: string): Promise<EvalRunView> {
    const { workspaceId } = scope;
    const run = isId('evl', evalRunId)
      ? await this.db.findOne(scope, EvalRunEntity, { workspaceId, evalRunId })
      : undefined;
    if (!run) throw new NotFound();
    return viewOf(run);
  }
}

export function viewOf({ workspaceId: _workspaceId, ...run }: EvalRunEntity): EvalRunView {
  return run;
}
