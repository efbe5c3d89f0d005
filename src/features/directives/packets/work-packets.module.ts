import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DocumentsModule } from '../../documents/documents.module.js';
import { GuardianModule } from '../../guardian/guardian.module.js';
import { MailModule } from '../../mail/mail.module.js';
import { RevenueModule } from '../../revenue/revenue.module.js';
import { SignalsModule } from '../../signals/signals.module.js';
import { ActionEffects } from './action-effects.js';
import { PacketOutcomes } from './packet-outcomes.js';
import { RegisterEffects } from './register-effects.js';
import { SendPacket } from './send-packet.js';
import { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPacketsController } from './work-packets.controller.js';
import { WorkPackets } from './work-packets.repository.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([WorkPacketEntity]),
    GuardianModule,
    SignalsModule,
    DocumentsModule,
    RevenueModule,
    MailModule,
  ],
  controllers: [WorkPacketsController],
  providers: [WorkPackets, ActionEffects, PacketOutcomes, RegisterEffects, SendPacket],
  exports: [WorkPackets, ActionEffects, PacketOutcomes],
})
export class WorkPacketsModule {}
