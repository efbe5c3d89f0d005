import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Work, type WorkProgress } from '../../platform/work/work.js';

/** How far the work on a draft has come, from its routing on. */
export type DraftingState = WorkProgress;

const DRAFTING_WORK = ['directive.route', 'directive.draft'];

/** Of a directive that has just been handed in, or is to be drafted again. */
export function draftingFrom(now: number): DraftingState {
  return { attempts: 0, nextAttemptAt: now, lastError: null };
}

/** Why a draft is not there yet: attempts so far, when the next one begins, what went wrong with the last. */
@Injectable()
export class DraftingStates {
  constructor(private readonly work: Work) {}

  /** Null when no draft is being made. For a caller that may see the directive. */
  read(scope: Scope, directiveId: string): Promise<DraftingState | null> {
    return this.work.progress(scope, DRAFTING_WORK, directiveId);
  }
}
