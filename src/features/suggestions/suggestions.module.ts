import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { StandingOrdersModule } from '../standing-orders/standing-orders.module.js';
import { DecideSuggestion } from './decide-suggestion.js';
import { OpenSuggestions } from './open-suggestions.js';
import { SimulatedSuggestions } from './simulated-suggestions.js';
import { SuggestionDecisionEntity } from './suggestion-decision.entity.js';
import { SuggestionsController } from './suggestions.controller.js';
import { Suggestions } from './suggestions.repository.js';

/** @level 7 */
@Module({
  imports: [TypeOrmModule.forFeature([SuggestionDecisionEntity]), ApprovalsModule, StandingOrdersModule],
  controllers: [SuggestionsController],
  providers: [Suggestions, OpenSuggestions, SimulatedSuggestions, DecideSuggestion],
})
export class SuggestionsModule {}
