import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { CaposModule } from '../capos/capos.module.js';
import { EventsModule } from '../events/events.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { DocumentsModule } from '../documents/documents.module.js';
import { MailModule } from '../mail/mail.module.js';
import { RevenueModule } from '../revenue/revenue.module.js';
import { SignalsModule } from '../signals/signals.module.js';
import { StandingOrdersModule } from '../standing-orders/standing-orders.module.js';
import { AcceptDraft } from './accept-draft.js';
import { CancelDirective } from './cancel-directive.js';
import { DecidedOutput } from './decided-output.js';
import { DirectiveEntity } from './directive.entity.js';
import { DirectivesController } from './directives.controller.js';
import { Directives } from './directives.repository.js';
import { DraftDirective } from './draft-directive.js';
import { DropRest } from './drop-rest.js';
import { EditOutput } from './edit-output.js';
import { EndDirective } from './end-directive.js';
import { ExpireDirective } from './expire-directive.js';
import { GiveUpDraft } from './give-up-draft.js';
import { HaltDirectives } from './halt-directives.js';
import { HandInDirective } from './hand-in-directive.js';
import { CompleteDirective } from './complete-directive.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { RecordDraftFailure } from './record-draft-failure.js';
import { RetryDirective } from './retry-directive.js';
import { PacketEffects } from './packets/packet-effects.js';
import { PacketResults } from './packets/packet-results.js';
import { RecallPackets } from './packets/recall-packets.js';
import { SendPacket } from './packets/send-packet.js';
import { WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPacketsController } from './packets/work-packets.controller.js';
import { UsualCost } from './usual-cost.reader.js';
import { WorkPackets } from './packets/work-packets.repository.js';

/** @level 7 */
@Module({
  imports: [
    TypeOrmModule.forFeature([DirectiveEntity, WorkPacketEntity]),
    EventsModule,
    WorkspacesModule,
    GuardianModule,
    CaposModule,
    ApprovalsModule,
    DocumentsModule,
    MailModule,
    RevenueModule,
    SignalsModule,
    StandingOrdersModule,
  ],
  controllers: [DirectivesController, WorkPacketsController],
  providers: [
    Directives,
    DirectiveTransitions,
    HandInDirective,
    DraftDirective,
    AcceptDraft,
    DecidedOutput,
    CompleteDirective,
    DropRest,
    EditOutput,
    EndDirective,
    GiveUpDraft,
    RecordDraftFailure,
    RetryDirective,
    CancelDirective,
    ExpireDirective,
    HaltDirectives,
    PacketEffects,
    PacketResults,
    RecallPackets,
    SendPacket,
    UsualCost,
    WorkPackets,
  ],
  exports: [Directives, DirectiveTransitions, GiveUpDraft, HandInDirective, UsualCost, WorkPackets],
})
export class DirectivesModule {}
