import { Module } from '@nestjs/common';
import { ContextController } from './context.controller.js';
import { ContextReader } from './context.reader.js';

/** @level 9 */
@Module({
  controllers: [ContextController],
  providers: [ContextReader],
  exports: [ContextReader],
})
export class ContextModule {}
