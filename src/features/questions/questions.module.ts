import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { GuardianModule } from '../guardian/guardian.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { QuestionsController } from './questions.controller.js';
import { QuestionsService } from './questions.service.js';

/** @level 7 */
@Module({
  imports: [ApprovalsModule, GuardianModule, WorkspacesModule],
  controllers: [QuestionsController],
  providers: [QuestionsService],
})
export class QuestionsModule {}
