import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EscalationEntity } from './escalation.entity.js';
import { EscalationOpened, Escalations } from './escalations.repository.js';
import { EscalationOptions, EscalationsService } from './escalations.service.js';
import { EscalationsController } from './escalations.controller.js';

/** @level 3 */
@Module({
  imports: [TypeOrmModule.forFeature([EscalationEntity])],
  controllers: [EscalationsController],
  providers: [Escalations, EscalationOptions, EscalationOpened, EscalationsService],
  exports: [Escalations, EscalationOptions, EscalationOpened],
})
export class EscalationsModule {}
