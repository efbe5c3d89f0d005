import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { BootstrapModule } from '../bootstrap/bootstrap.module.js';
import { ContextModule } from '../context/context.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { Cursors } from './cursors.js';
import { HydrateController } from './hydrate.controller.js';
import { HydrateDevice } from './hydrate-device.js';
import { MissedReceipts } from './missed-receipts.js';

/** @level 10 */
@Module({
  imports: [AuditModule, BootstrapModule, ContextModule, WorkspacesModule],
  controllers: [HydrateController],
  providers: [Cursors, HydrateDevice, MissedReceipts],
})
export class HydrateModule {}
