import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import {
  columnsOfRule,
  type DecisionOrder,
  decisionOrderOf,
  StandingOrderDrafts,
  History,
  replayedFor,
  ReplayHistory,
  type Simulated,
  type StandingOrderEntity,
  type StandingOrderMatch,
  StandingOrders,
} from '../standing-orders/index.js';
import { DecidedApprovals } from './decided-approvals.reader.js';
import type { SuggestionDecision, SuggestionDecisionEntity } from './suggestion-decision.entity.js';
import { type Suggestion, suggestionsFrom, WITHIN_DAYS } from './suggestion.js';
import type { SuggestedOrder, SuggestionView } from './suggestions.dto.js';
import { Suggestions } from './suggestions.repository.js';

/** So many are made at a time. */
const MOST = 10;
const DAY_MS = 86_400_000;
/** History is long and changes with every decision: a reader who returns soon sees the same numbers. */
const FRESH_MS = 5 * 60_000;
/** So many lists of suggestions are known at a time; members of different teams see different ones. */
const KNOWN = 100;

interface Known {
  computedAt: number;
  replays: Simulated[];
}

const MADE_FROM_SUGGESTION = 'It was made from a suggestion and decides nothing until somebody activates it.';

/** Standing orders that repeated approvals suggest; what somebody has decided about is not suggested again. */
@Injectable()
export class SuggestionsService {
  readonly #known = new Map<string, Known>();

  constructor(
    private readonly approvals: DecidedApprovals,
    private readonly suggestions: Suggestions,
    private readonly history: History,
    private readonly replayHistory: ReplayHistory,
    private readonly orders: StandingOrders,
    private readonly drafts: StandingOrderDrafts,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * The suggestions that would have changed something, with what each would have done; history is replayed once for all of them.
   */
  async list(caller: Caller): Promise<SuggestionView[]> {
    const suggestions = await this.openFor(scopeOf(caller));
    if (suggestions.length === 0) return [];
    const { replays, computedAt } = await this.simulated(caller.workspaceId, suggestions.map(draftOf));
    const views = suggestions.map((suggestion, index) => {
      const { suggestionId, approvals, lastApprovedAt } = suggestion;
      const simulation = { ...replayedFor(caller, replays[index]!), computedAt };
      return { suggestionId, order: suggestedOrderOf(suggestion), approvals, lastApprovedAt, simulation };
    });
    return views.filter(({ simulation }) => simulation.relaxed > 0);
  }

  /**
   * Makes a draft of a suggestion, which is no longer suggested then.
   * @throws NotFound, Forbidden, or InvalidTransition for one that was dismissed
   */
  async accept(caller: Caller, suggestionId: string): Promise<StandingOrderEntity> {
    const { suggestion, decided } = await this.lock(caller, suggestionId);
    const message = 'Only an admin may create a standing order that allows work packets.';
    requireRole(caller, suggestion.rule.teamId, 'admin', message);
    if (decided?.decision === 'dismissed') {
      throw new InvalidTransition({ message: 'This suggestion was dismissed.' });
    }
    if (decided) return this.orders.get(scopeOf(caller), decided.standingOrderId!);
    const { name, text, rule, approvals } = suggestion;
    const by = actorOf(caller);
    const order = this.drafts.draft(
      { name, text, rule, heldBecause: MADE_FROM_SUGGESTION, details: { suggestionId, approvals } },
      by,
    );
    this.record(suggestion, by, 'accepted', order.standingOrderId);
    return order;
  }

  /**
   * Has a suggestion not made again.
   * @throws NotFound, Forbidden, or InvalidTransition for one that was accepted
   */
  async dismiss(caller: Caller, suggestionId: string): Promise<void> {
    const { suggestion, decided } = await this.lock(caller, suggestionId);
    const { teamId } = suggestion.rule;
    requireRole(caller, teamId, 'operator');
    if (decided?.decision === 'accepted') {
      throw new InvalidTransition({ message: 'A standing order was made of this suggestion.' });
    }
    if (decided) return;
    const by = actorOf(caller);
    this.record(suggestion, by, 'dismissed', null);
    this.receipts.append({
      actor: by,
      action: 'suggestion.dismissed',
      entity: { type: 'suggestion', id: suggestionId },
      teamId,
      summary: `${by.name} dismissed the suggested standing order "${suggestion.name}".`,
      details: { rule: suggestion.rule, approvals: suggestion.approvals },
    });
  }

  /** The undecided suggestions that this reader may see. */
  private async openFor(scope: Scope): Promise<Suggestion[]> {
    const made = await this.madeFor(scope);
    const decided = await this.suggestions.decidedOf(
      scope,
      made.map(({ suggestionId }) => suggestionId),
    );
    return made.filter(({ suggestionId }) => !decided.has(suggestionId)).slice(0, MOST);
  }

  /** One of them, whether or not somebody has decided about it. */
  private async find(scope: Scope, suggestionId: string): Promise<Suggestion | undefined> {
    return (await this.madeFor(scope)).find((suggestion) => suggestion.suggestionId === suggestionId);
  }

  private async madeFor(scope: Scope): Promise<Suggestion[]> {
    const approvals = await this.approvals.since(scope, this.clock.now() - WITHIN_DAYS * DAY_MS);
    const directiveIds = approvals.map(({ directiveId }) => directiveId);
    return suggestionsFrom(approvals, await this.history.askingAnyway(scope, directiveIds));
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

  /** What is suggested to the caller, and what somebody has decided about it; nobody else decides meanwhile. */
  private async lock(
    caller: Caller,
    suggestionId: string,
  ): Promise<{ suggestion: Suggestion; decided: SuggestionDecisionEntity | undefined }> {
    const decided = await this.suggestions.lockDecision(suggestionId);
    const suggestion = await this.find(scopeOf(caller), suggestionId);
    if (!suggestion) throw new NotFound();
    return { suggestion, decided };
  }

  private record(
    { suggestionId, rule: { teamId } }: Suggestion,
    decidedBy: Actor,
    decision: SuggestionDecision,
    standingOrderId: string | null,
  ): void {
    const decidedAt = this.clock.now();
    this.suggestions.addDecision({ suggestionId, teamId, decision, standingOrderId, decidedBy, decidedAt });
  }
}

function draftOf({ name, rule }: Suggestion): DecisionOrder {
  const standingOrderId = newId('so');
  return decisionOrderOf({ ...columnsOfRule(rule), standingOrderId, version: 1, name }, 'active');
}

function suggestedOrderOf({ name, text, rule }: Suggestion): SuggestedOrder {
  const { teamId, capos, effect, match, limits } = rule;
  return {
    name,
    text,
    teamId,
    capos: capos && [...capos],
    effect,
    // The rule's lists are read-only; a view's are not, and nothing changes a view.
    match: match as StandingOrderMatch,
    limits: limits ?? {},
  };
}
