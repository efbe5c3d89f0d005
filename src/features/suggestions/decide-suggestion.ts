import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { DraftStandingOrder, type StandingOrderEntity, StandingOrders } from '../standing-orders/index.js';
import { OpenSuggestions } from './open-suggestions.js';
import type { Suggestion } from './suggestion.js';
import type { SuggestionDecision, SuggestionDecisionEntity } from './suggestion-decision.entity.js';
import { Suggestions } from './suggestions.repository.js';

const MADE_FROM_SUGGESTION = 'It was made from a suggestion and decides nothing until somebody activates it.';

/** Makes a draft of a suggestion, or has it not made again. Either way it is no longer suggested. */
@Injectable()
export class DecideSuggestion {
  constructor(
    private readonly open: OpenSuggestions,
    private readonly suggestions: Suggestions,
    private readonly orders: StandingOrders,
    private readonly draftOrder: DraftStandingOrder,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound, Forbidden, or InvalidTransition for one that was dismissed */
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
    const order = this.draftOrder.execute(
      { name, text, rule, heldBecause: MADE_FROM_SUGGESTION, details: { suggestionId, approvals } },
      by,
    );
    this.record(suggestion, by, 'accepted', order.standingOrderId);
    return order;
  }

  /** @throws NotFound, Forbidden, or InvalidTransition for one that was accepted */
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

  /** What is suggested to the caller, and what somebody has decided about it; nobody else decides meanwhile. */
  private async lock(
    caller: Caller,
    suggestionId: string,
  ): Promise<{ suggestion: Suggestion; decided: SuggestionDecisionEntity | undefined }> {
    const decided = await this.suggestions.lockDecision(suggestionId);
    const suggestion = await this.open.find(scopeOf(caller), suggestionId);
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
