import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { EndLicences } from './end-licences.js';
import { LicenceEntity } from './licence.entity.js';
import { Licences } from './licences.repository.js';
import { SubscriptionController } from './subscription.controller.js';
import { VerifySubscription } from './verify-subscription.js';

/** @level 4 */
@Module({
  imports: [TypeOrmModule.forFeature([LicenceEntity]), RecordsModule, WorkspacesModule],
  controllers: [SubscriptionController],
  providers: [Licences, VerifySubscription, EndLicences],
})
export class SubscriptionModule {}
