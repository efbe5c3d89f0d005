import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';

/** How far the work on a draft has come. */
export interface DraftingState {
  attempts: number;
  nextAttemptAt: number | null;
  lastError: { code: string; message: string } | null;
}

/** Of a directive that has just been handed in, or is to be drafted again. */
export function draftingFrom(now: number): DraftingState {
  return { attempts: 0, nextAttemptAt: now, lastError: null };
}

/** Why a draft is not there yet: attempts so far, when the next one begins, what went wrong with the last. */
@Injectable()
export class DraftingStates {
  constructor(private readonly db: Db) {}

  /** Null when no draft is being made. For a caller that may see the directive. */
  async read(scope: Scope, directiveId: string): Promise<DraftingState | null> {
    const [state] = await this.db.read<DraftingState>(
      scope,
      `select w.failures + w.crashes + w.claimed::int as attempts,
         case when not w.claimed and w.due_at <> 'infinity' then app.ms(w.due_at) end as next_attempt_at,
         -- Whoever parks an item says nothing of errors; the directive still knows the last one.
         coalesce(w.last_error, d.error) as last_error
       from work_items w join directives d on d.workspace_id = w.workspace_id and d.directive_id = w.id
       where w.workspace_id = $1 and w.id = $2 and w.kind in ('directive.route', 'directive.draft')`,
      [scope.workspaceId, directiveId],
    );
    return state ?? null;
  }
}
