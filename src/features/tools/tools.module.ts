import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ToolEntity } from './tool.entity.js';
import { ToolParams } from './tool-params.js';
import { ToolsController } from './tools.controller.js';
import { Tools } from './tools.repository.js';
import { ToolsService } from './tools.service.js';

/** @level 2 */
@Module({
  imports: [TypeOrmModule.forFeature([ToolEntity])],
  controllers: [ToolsController],
  providers: [Tools, ToolParams, ToolsService],
  exports: [Tools, ToolsService],
})
export class ToolsModule {}
