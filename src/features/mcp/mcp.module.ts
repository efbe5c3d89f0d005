import { Module } from '@nestjs/common';
import { McpController } from './mcp.controller.js';

/** @level 11 */
@Module({ controllers: [McpController] })
export class McpModule {}
