import { Module } from '@nestjs/common';
import { ExpiredRows } from './expired-rows.repository.js';
import { LetGo } from './let-go.js';

/** @level 9 */
@Module({ providers: [ExpiredRows, LetGo] })
export class RetentionModule {}
