import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AcknowledgeSignal } from './acknowledge-signal.js';
import { SignalEntity } from './signal.entity.js';
import { SignalsController } from './signals.controller.js';
import { SignalsReader } from './signals.reader.js';
import { Signals } from './signals.repository.js';

/** @level 3 */
@Module({
  imports: [TypeOrmModule.forFeature([SignalEntity])],
  controllers: [SignalsController],
  providers: [Signals, SignalsReader, AcknowledgeSignal],
  exports: [Signals],
})
export class SignalsModule {}
