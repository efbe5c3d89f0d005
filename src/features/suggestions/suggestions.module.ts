import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { StandingOrdersModule } from '../standing-orders/index.js';
import { DecidedApprovals } from './decided-approvals.reader.js';
import { SuggestionDecisionEntity } from './suggestion-decision.entity.js';
import { SuggestionsController } from './suggestions.controller.js';
import { Suggestions } from './suggestions.repository.js';
import { SuggestionsService } from './suggestions.service.js';

/** @level 7 */
@Module({
  imports: [TypeOrmModule.forFeature([SuggestionDecisionEntity]), StandingOrdersModule],
  controllers: [SuggestionsController],
  providers: [DecidedApprovals, Suggestions, SuggestionsService],
})
export class SuggestionsModule {}
