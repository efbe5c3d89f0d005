import { Module } from '@nestjs/common';
import { LetGo } from './let-go.js';

/** @level 9 */
@Module({ providers: [LetGo] })
export class RetentionModule {}
