import { Global, Module } from '@nestjs/common';
import { Bell } from './bell.js';
import { Jobs } from './jobs.js';
import { Worker } from './worker.js';

@Global()
@Module({ providers: [Bell, Jobs, Worker], exports: [Jobs] })
export class JobsModule {}
