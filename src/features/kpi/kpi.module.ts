import { Module } from '@nestjs/common';
import { KpiController } from './kpi.controller.js';
import { KpiFiguresReader } from './kpi-figures.reader.js';
import { KpiTiles } from './kpi-tiles.js';
import { ReadKpi } from './read-kpi.js';

/** @level 8 */
@Module({
  controllers: [KpiController],
  providers: [ReadKpi, KpiFiguresReader, KpiTiles],
  exports: [KpiTiles],
})
export class KpiModule {}
