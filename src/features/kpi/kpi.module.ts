import { Module } from '@nestjs/common';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { KpiController } from './kpi.controller.js';
import { KpiFiguresReader } from './kpi-figures.reader.js';
import { KpiTiles } from './kpi-tiles.js';
import { ReadKpi } from './read-kpi.js';

/** @level 8 */
@Module({
  imports: [WorkspacesModule],
  controllers: [KpiController],
  providers: [ReadKpi, KpiFiguresReader, KpiTiles],
  exports: [KpiTiles],
})
export class KpiModule {}
