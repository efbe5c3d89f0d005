import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { LicenceEntity } from './licence.entity.js';
import { Licences } from './licences.repository.js';
import { SubscriptionController } from './subscription.controller.js';
import { SubscriptionService } from './subscription.service.js';

/** @level 4 */
@Module({
  imports: [TypeOrmModule.forFeature([LicenceEntity]), RecordsModule, WorkspacesModule],
  controllers: [SubscriptionController],
  providers: [Licences, SubscriptionService],
})
export class SubscriptionModule {}
