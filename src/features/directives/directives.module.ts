import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApprovalsModule } from '../approvals/index.js';
import { CaposModule } from '../capos/index.js';
import { AuditModule } from '../audit/index.js';
import { ConnectorsModule } from '../connectors/index.js';
import { EscalationsModule } from '../escalations/index.js';
import { EventsModule } from '../events/index.js';
import { GuardianModule } from '../guardian/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { MailModule } from '../mail/index.js';
import { RecordsModule } from '../records/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { StandingOrdersModule } from '../standing-orders/index.js';
import { AcceptDraft } from './accept-draft.js';
import { DraftAttempts, DueDrafts } from './draft-attempts.js';
import { BudgetOverride, RetryDirective } from './retry-directive.js';
import { CancelDirective, EndDirective, ExpireDirective } from './end-directive.js';
import { ChargeUnused } from './charge-unused.js';
import { DecideDraft } from './decide-draft.js';
import { DraftApprovalSubject } from './draft-approval-subject.js';
import { DirectiveEntity } from './directive.entity.js';
import { DirectivesController } from './directives.controller.js';
import { Directives } from './directives.repository.js';
import { DraftDirective } from './draft-directive.js';
import { EditOutput } from './edit-draft.js';
import { HaltDirectives } from './halt-directives.js';
import { HandInDirective } from './hand-in-directive.js';
import { CompleteDirective } from './complete-directive.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { CallEffect, WebhookEffect } from './packets/outside-effects.js';
import { CheckBeforeSending, SendPacket } from './packets/send-packet.js';
import { CompensatePacket, Compensations, WithdrawDelegation } from './packets/compensations.js';
import { CompensationResults, DecideCompensationFailure } from './packets/compensation-results.js';
import { DuePackets, DueUndos } from './packets/due-packets.repository.js';
import { PacketEscalations } from './packets/packet-escalations.js';
import { OutsideAttempts } from './packets/outside-attempts.js';
import { PacketEffects } from './packets/packet-effects.js';
import { PacketResults } from './packets/packet-results.js';
import { PacketTallies } from './packets/packet-tallies.reader.js';
import { RecallPackets, UnsentPackets } from './packets/unsent-packets.js';
import { SendAgain } from './packets/send-again.js';
import { UnconfirmedPackets } from './packets/unconfirmed-packets.js';
import { UndoablePackets, UndoPacket } from './packets/undo-packets.js';
import { OutsideAttemptEntity, WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPacketsController } from './packets/work-packets.controller.js';
import { WorkPacketsReader } from './packets/work-packets.reader.js';
import { WorkPackets } from './packets/work-packets.repository.js';

/** @level 7 */
@Module({
  imports: [
    TypeOrmModule.forFeature([DirectiveEntity, OutsideAttemptEntity, WorkPacketEntity]),
    EscalationsModule,
    EventsModule,
    WorkspacesModule,
    GuardianModule,
    CaposModule,
    ApprovalsModule,
    RecordsModule,
    MailModule,
    AuditModule,
    ConnectorsModule,
    WebhooksModule,
    StandingOrdersModule,
  ],
  controllers: [DirectivesController, WorkPacketsController],
  providers: [
    Directives,
    DirectiveTransitions,
    HandInDirective,
    DraftDirective,
    DueDrafts,
    DraftAttempts,
    AcceptDraft,
    DecideDraft,
    ChargeUnused,
    BudgetOverride,
    DraftApprovalSubject,
    CompleteDirective,
    EditOutput,
    EndDirective,
    RetryDirective,
    CancelDirective,
    ExpireDirective,
    HaltDirectives,
    CallEffect,
    WebhookEffect,
    PacketEscalations,
    DecideCompensationFailure,
    PacketEffects,
    Compensations,
    CompensatePacket,
    CompensationResults,
    WithdrawDelegation,
    PacketResults,
    PacketTallies,
    RecallPackets,
    SendAgain,
    SendPacket,
    CheckBeforeSending,
    DuePackets,
    DueUndos,
    OutsideAttempts,
    UndoPacket,
    UndoablePackets,
    UnsentPackets,
    UnconfirmedPackets,
    WorkPackets,
    WorkPacketsReader,
  ],
  exports: [
    DraftAttempts,
    ChargeUnused,
    Directives,
    DirectiveTransitions,
    DraftDirective,
    DueDrafts,
    HandInDirective,
    WorkPacketsReader,
  ],
})
export class DirectivesModule {}
