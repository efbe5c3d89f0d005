import { Module } from '@nestjs/common';
import { CaposModule } from '../capos/index.js';
import { DirectivesModule } from '../directives/index.js';
import { GuardianModule } from '../guardian/index.js';
import { AgentsController, EnginesController } from './agents.controller.js';
import { AgentsReader } from './agents.reader.js';
import { AgentsService } from './agents.service.js';

/** @level 8 */
@Module({
  imports: [GuardianModule, CaposModule, DirectivesModule],
  controllers: [AgentsController, EnginesController],
  providers: [AgentsReader, AgentsService],
  exports: [AgentsReader],
})
export class AgentsModule {}
