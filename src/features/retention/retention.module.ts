import { Module } from '@nestjs/common';
import { DeleteExpired } from './delete-expired.js';
import { ExpiredRows } from './expired-rows.repository.js';

/** @level 9 */
@Module({ providers: [DeleteExpired, ExpiredRows] })
export class RetentionModule {}
