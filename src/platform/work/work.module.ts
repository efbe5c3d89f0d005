import { Global, Module } from '@nestjs/common';
import { Attempts } from './attempts.js';
import { Claims } from './claims.repository.js';
import { WorkFigures } from './work-figures.js';
import { Work } from './work.js';
import { Worker } from './worker.js';

@Global()
@Module({ providers: [Attempts, Claims, Work, Worker, WorkFigures], exports: [Work] })
export class WorkModule {}
