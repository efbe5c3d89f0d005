import { Module } from '@nestjs/common';
import { LetGo } from './let-go.js';

@Module({ providers: [LetGo] })
export class RetentionModule {}
