import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/index.js';
import { AuditModule } from '../audit/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { BootstrapController } from './bootstrap.controller.js';
import { BootstrapReader } from './bootstrap.reader.js';
import { ContextController } from './context.controller.js';
import { ContextReader } from './context.reader.js';
import { Cursors } from './cursors.js';
import { HydrateController } from './hydrate.controller.js';
import { HydrateDevice } from './hydrate-device.js';
import { MissedReceipts } from './missed-receipts.js';

/** @level 9 */
@Module({
  imports: [AgentsModule, AuditModule, WorkspacesModule],
  controllers: [ContextController, BootstrapController, HydrateController],
  providers: [BootstrapReader, ContextReader, Cursors, HydrateDevice, MissedReceipts],
})
export class ContextModule {}
