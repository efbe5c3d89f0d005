import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import {
  type DecisionOrder,
  History,
  ReplayHistory,
  type Simulated,
  columnsOfRule,
  decisionOrderOf,
  replayedFor,
} from '../standing-orders/index.js';
import { OpenSuggestions } from './open-suggestions.js';
import type { Suggestion } from './suggestion.js';
import { suggestedOrderOf } from './suggestion-view.js';
import type { SuggestionView } from './suggestions.dto.js';

/** History is long and changes with every decision: a reader who returns soon sees the same numbers. */
const FRESH_MS = 5 * 60_000;
/** So many lists of suggestions are known at a time; members of different teams see different ones. */
const KNOWN = 100;

interface Known {
  computedAt: number;
  replays: Simulated[];
}

/** The suggestions that would have changed something, with what each would have done; history is replayed once for all of them. */
@Injectable()
export class SimulatedSuggestions {
  readonly #known = new Map<string, Known>();

  constructor(
    private readonly open: OpenSuggestions,
    private readonly history: History,
    private readonly replayHistory: ReplayHistory,
    private readonly clock: Clock,
  ) {}

  async execute(caller: Caller): Promise<SuggestionView[]> {
    const suggestions = await this.open.of(scopeOf(caller));
    if (suggestions.length === 0) return [];
    const { replays, computedAt } = await this.simulated(caller.workspaceId, suggestions.map(draftOf));
    const views = suggestions.map((suggestion, index) => {
      const { suggestionId, approvals, lastApprovedAt } = suggestion;
      const simulation = { ...replayedFor(caller, replays[index]!), computedAt };
      return { suggestionId, order: suggestedOrderOf(suggestion), approvals, lastApprovedAt, simulation };
    });
    return views.filter(({ simulation }) => simulation.relaxed > 0);
  }

  private async simulated(workspaceId: string, drafts: readonly DecisionOrder[]): Promise<Known> {
    const key = `${workspaceId} ${sha256(canonicalJson(drafts.map(({ hash, name }) => [hash, name])))}`;
    const known = this.#known.get(key);
    if (known && this.clock.now() < known.computedAt + FRESH_MS) return known;
    const replays = await this.replayHistory.execute(
      workspaceId,
      await this.history.end(workspaceId),
      drafts,
    );
    const computed = { computedAt: this.clock.now(), replays };
    this.#known.delete(key);
    this.#known.set(key, computed);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN) this.#known.delete(oldest!);
    return computed;
  }
}

function draftOf({ name, rule }: Suggestion): DecisionOrder {
  const standingOrderId = newId('so');
  return decisionOrderOf({ ...columnsOfRule(rule), standingOrderId, version: 1, name }, 'active');
}
