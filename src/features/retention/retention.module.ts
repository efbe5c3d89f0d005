import { Module } from '@nestjs/common';
import { DeleteExpired } from './delete-expired.js';

/** @level 9 */
@Module({ providers: [DeleteExpired] })
export class RetentionModule {}
