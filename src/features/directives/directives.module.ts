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
import { AssertWanted } from './assert-wanted.js';
import { BeginDraft } from './begin-draft.js';
import { BudgetOverride } from './budget-override.js';
import { CancelDirective } from './cancel-directive.js';
import { ChargeUnused } from './charge-unused.js';
import { CheckDraft } from './check-draft.js';
import { DecideDraft } from './decide-draft.js';
import { DecidedOutput } from './decided-output.js';
import { DirectiveEntity } from './directive.entity.js';
import { DiscardDraft } from './discard-draft.js';
import { DirectivesController } from './directives.controller.js';
import { Directives } from './directives.repository.js';
import { DraftDirective } from './draft-directive.js';
import { DueDrafts } from './due-drafts.repository.js';
import { CancelUnsentRest } from './cancel-unsent-rest.js';
import { EditOutput } from './edit-output.js';
import { EndDirective } from './end-directive.js';
import { ExpireDirective } from './expire-directive.js';
import { GiveUpDraft } from './give-up-draft.js';
import { HaltDirectives } from './halt-directives.js';
import { HandInAgain } from './hand-in-again.js';
import { HandInDirective } from './hand-in-directive.js';
import { CompleteDirective } from './complete-directive.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { RecordDraft } from './record-draft.js';
import { RecordDraftFailure } from './record-draft-failure.js';
import { ReleaseDraft } from './release-draft.js';
import { RetryDirective } from './retry-directive.js';
import { ReviewDraft } from './review-draft.js';
import { CallEffect } from './packets/call-effect.js';
import { CheckBeforeSending } from './packets/check-before-sending.js';
import { CompensatePacket } from './packets/compensate-packet.js';
import { ReportCompensationFailure } from './packets/report-compensation-failure.js';
import { CompensationResults } from './packets/compensation-results.js';
import { Compensations } from './packets/compensations.js';
import { DuePackets } from './packets/due-packets.repository.js';
import { DueUndos } from './packets/due-undos.repository.js';
import { PacketEscalations } from './packets/packet-escalations.js';
import { DecideCompensationFailure } from './packets/decide-compensation-failure.js';
import { OutsideAttemptEntity } from './packets/outside-attempt.entity.js';
import { OutsideAttempts } from './packets/outside-attempts.js';
import { PacketEffects } from './packets/packet-effects.js';
import { PacketResults } from './packets/packet-results.js';
import { PacketTallies } from './packets/packet-tallies.reader.js';
import { RecallPackets } from './packets/recall-packets.js';
import { RevertDirective } from './packets/revert-directive.js';
import { SendAgain } from './packets/send-again.js';
import { SendPacket } from './packets/send-packet.js';
import { UnconfirmedPackets } from './packets/unconfirmed-packets.js';
import { UndoPacket } from './packets/undo-packet.js';
import { UndoablePackets } from './packets/undoable-packets.js';
import { UnsentPackets } from './packets/unsent-packets.js';
import { WithdrawDelegation } from './packets/withdraw-delegation.js';
import { WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPacketsController } from './packets/work-packets.controller.js';
import { WebhookEffect } from './packets/webhook-effect.js';
import { UsualCost } from './usual-cost.reader.js';
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
    HandInAgain,
    HandInDirective,
    DraftDirective,
    DueDrafts,
    BeginDraft,
    AcceptDraft,
    CheckDraft,
    DecideDraft,
    RecordDraft,
    DiscardDraft,
    ReviewDraft,
    ReleaseDraft,
    AssertWanted,
    ChargeUnused,
    BudgetOverride,
    DecidedOutput,
    CompleteDirective,
    CancelUnsentRest,
    EditOutput,
    EndDirective,
    GiveUpDraft,
    RecordDraftFailure,
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
    ReportCompensationFailure,
    CompensationResults,
    RevertDirective,
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
    UsualCost,
    WorkPackets,
    WorkPacketsReader,
  ],
  exports: [
    BeginDraft,
    ChargeUnused,
    Directives,
    DirectiveTransitions,
    DraftDirective,
    DueDrafts,
    GiveUpDraft,
    HandInDirective,
    UsualCost,
    WorkPacketsReader,
  ],
})
export class DirectivesModule {}
