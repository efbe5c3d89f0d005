import { Module } from '@nestjs/common';
import { CaposModule } from '../capos/index.js';
import { DirectivesModule } from '../directives/index.js';
import { GuardianModule } from '../guardian/index.js';
import { AgentsController } from './agents.controller.js';
import { AgentsReader } from './agents.reader.js';
import { EnginesController } from './engines.controller.js';
import { PauseAgent } from './pause-agent.js';
import { ResumeAgent } from './resume-agent.js';

/** @level 8 */
@Module({
  imports: [GuardianModule, CaposModule, DirectivesModule],
  controllers: [AgentsController, EnginesController],
  providers: [AgentsReader, PauseAgent, ResumeAgent],
  exports: [AgentsReader],
})
export class AgentsModule {}
