import { Module } from '@nestjs/common';
import { BriefingReader } from './briefing.reader.js';
import { ContextController } from './context.controller.js';
import { ContextReader } from './context.reader.js';

@Module({
  controllers: [ContextController],
  providers: [BriefingReader, ContextReader],
  exports: [BriefingReader],
})
export class ContextModule {}
