import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/index.js';
import { AuditModule } from '../audit/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { BootstrapController, ContextController, HydrateController } from './context.controller.js';
import { BootstrapReader } from './bootstrap.reader.js';
import { ContextReader } from './context.reader.js';
import { HydrateService } from './hydrate.service.js';

/** @level 9 */
@Module({
  imports: [AgentsModule, AuditModule, WorkspacesModule],
  controllers: [ContextController, BootstrapController, HydrateController],
  providers: [BootstrapReader, ContextReader, HydrateService],
})
export class ContextModule {}
