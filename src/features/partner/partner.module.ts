import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SignedRequests } from '../../platform/auth/signed-requests.js';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { AcceptConfidenceUpdate } from './accept-confidence-update.js';
import { PartnerEvents, PartnerSecrets } from './partner.repository.js';
import { PartnerSecretController, PartnerController } from './partner.controller.js';
import { PartnerSecretService, PartnerSignatures } from './partner-secret.service.js';
import {
  BuyerEntity,
  BuyerMetricEntity,
  PartnerEventEntity,
  PartnerSecretEntity,
  PersonaEntity,
  PersonaMetricEntity,
} from './partner.entity.js';
import { PersonaReader, TrustFiguresReader } from './persona.reader.js';

/** @level 4 */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      PartnerSecretEntity,
      PartnerEventEntity,
      PersonaEntity,
      PersonaMetricEntity,
      BuyerEntity,
      BuyerMetricEntity,
    ]),
    // Its first run makes the workspace that gets the first secret.
    WorkspacesModule,
    RecordsModule,
  ],
  controllers: [PartnerController, PartnerSecretController],
  providers: [
    AcceptConfidenceUpdate,
    PartnerEvents,
    PartnerSecrets,
    PartnerSecretService,
    PartnerSignatures,
    PersonaReader,
    TrustFiguresReader,
  ],
  exports: [PartnerSecretService],
})
export class PartnerModule {
  constructor(requests: SignedRequests, signatures: PartnerSignatures) {
    requests.register(signatures);
  }
}
