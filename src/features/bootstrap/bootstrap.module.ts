import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { BootstrapController } from './bootstrap.controller.js';
import { BootstrapReader } from './bootstrap.reader.js';

/** @level 9 */
@Module({
  imports: [AgentsModule],
  controllers: [BootstrapController],
  providers: [BootstrapReader],
  exports: [BootstrapReader],
})
export class BootstrapModule {}
