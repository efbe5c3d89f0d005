import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { CaposModule } from '../capos/capos.module.js';
import { EventsModule } from '../events/events.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { WorkPacketsModule } from './packets/work-packets.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { AcceptDraft } from './accept-draft.js';
import { CancelDirective } from './cancel-directive.js';
import { DecidedOutput } from './decided-output.js';
import { DelegateEffect } from './delegate-effect.js';
import { DirectiveEntity } from './directive.entity.js';
import { DirectiveJournal } from './directive-journal.js';
import { DirectivesController } from './directives.controller.js';
import { Directives } from './directives.repository.js';
import { DraftDirective } from './draft-directive.js';
import { EndDirective } from './end-directive.js';
import { ExpireDirective } from './expire-directive.js';
import { HaltDirectives } from './halt-directives.js';
import { HandInDirective } from './hand-in-directive.js';
import { SettleDirective } from './settle-directive.js';

/** @level 7 */
@Module({
  imports: [
    TypeOrmModule.forFeature([DirectiveEntity]),
    EventsModule,
    WorkspacesModule,
    GuardianModule,
    CaposModule,
    WorkPacketsModule,
    ApprovalsModule,
  ],
  controllers: [DirectivesController],
  providers: [
    Directives,
    DirectiveJournal,
    HandInDirective,
    DraftDirective,
    AcceptDraft,
    DecidedOutput,
    SettleDirective,
    EndDirective,
    CancelDirective,
    ExpireDirective,
    HaltDirectives,
    DelegateEffect,
  ],
  exports: [Directives, DirectiveJournal, HandInDirective],
})
export class DirectivesModule {}
