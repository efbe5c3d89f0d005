import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GuardianModule } from '../guardian/index.js';
import { MailModule } from '../mail/index.js';
import { TeamsModule } from '../teams/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { DeleteExpired } from './delete-expired.js';
import { DeleteWorkspaces } from './delete-workspaces.js';
import { DeletionController } from './deletion.controller.js';
import { DeletionEntity } from './deletion.entity.js';
import { DeletionService } from './deletion.service.js';
import { Deletions } from './deletions.repository.js';
import { ExpiredRows } from './expired-rows.repository.js';
import { ExportController } from './export.controller.js';
import { ExportEntity } from './export.entity.js';
import { ExportWorkspace } from './export-workspace.js';
import { Exports } from './exports.repository.js';
import { SendDeletionMail } from './send-deletion-mail.js';
import { Snapshots } from './snapshots.js';
import { WorkspaceList } from './workspace-list.repository.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

/** @level 6 */
@Module({
  imports: [
    TypeOrmModule.forFeature([ExportEntity, DeletionEntity]),
    GuardianModule,
    MailModule,
    TeamsModule,
    WorkspacesModule,
  ],
  controllers: [WorkspacesController, ExportController, DeletionController],
  providers: [
    WorkspaceList,
    WorkspacesService,
    Snapshots,
    Exports,
    ExportWorkspace,
    Deletions,
    DeletionService,
    SendDeletionMail,
    DeleteWorkspaces,
    DeleteExpired,
    ExpiredRows,
  ],
})
export class TenancyModule {}
