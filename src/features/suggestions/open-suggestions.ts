import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DecidedApprovals } from './decided-approvals.reader.js';
import { History } from '../standing-orders/index.js';
import { type Suggestion, suggestionsFrom, WITHIN_DAYS } from './suggestion.js';
import { Suggestions } from './suggestions.repository.js';

/** So many are made at a time. */
const MOST = 10;
const DAY_MS = 86_400_000;

/** The undecided suggestions that this reader may see. */
@Injectable()
export class OpenSuggestions {
  constructor(
    private readonly approvals: DecidedApprovals,
    private readonly history: History,
    private readonly suggestions: Suggestions,
    private readonly clock: Clock,
  ) {}

  async of(scope: Scope): Promise<Suggestion[]> {
    const made = await this.madeFor(scope);
    const decided = await this.suggestions.decidedOf(
      scope,
      made.map(({ suggestionId }) => suggestionId),
    );
    return made.filter(({ suggestionId }) => !decided.has(suggestionId)).slice(0, MOST);
  }

  /** One of them, whether or not somebody has decided about it. */
  async find(scope: Scope, suggestionId: string): Promise<Suggestion | undefined> {
    return (await this.madeFor(scope)).find((suggestion) => suggestion.suggestionId === suggestionId);
  }

  private async madeFor(scope: Scope): Promise<Suggestion[]> {
    const approvals = await this.approvals.since(scope, this.clock.now() - WITHIN_DAYS * DAY_MS);
    const directiveIds = approvals.map(({ directiveId }) => directiveId);
    return suggestionsFrom(approvals, await this.history.askingAnyway(scope, directiveIds));
  }
}
