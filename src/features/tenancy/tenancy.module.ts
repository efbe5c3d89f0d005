import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { GuardianModule } from '../guardian/index.js';
import { MailModule } from '../mail/index.js';
import { TeamsModule } from '../teams/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { DeleteExpired, DeletionService } from './deletion.service.js';
import { DeleteWorkspaces } from './delete-workspaces.js';
import { DeletionController, ExportController, WorkspacesController } from './tenancy.controller.js';
import { DeletionEntity, ExportEntity } from './tenancy.entity.js';
import { Deletions, ExpiredRows, Exports, WorkspaceList } from './tenancy.repository.js';
import { ExportWorkspace } from './export-workspace.js';
import { SendDeletionMail } from './send-deletion-mail.js';
import { Snapshots } from './snapshots.js';
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
