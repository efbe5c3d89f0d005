import { Global, Module } from '@nestjs/common';
import { Jobs } from './jobs.js';
import { Worker } from './worker.js';

@Global()
@Module({ providers: [Jobs, Worker], exports: [Jobs] })
export class JobsModule {}
