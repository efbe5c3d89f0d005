import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SignedRequests } from '../../platform/auth/signed-requests.js';
import { RecordsModule } from '../records/index.js';
import { WorkspacesModule } from '../workspaces/index.js';
import { AcceptConfidenceUpdate } from './accept-confidence-update.js';
import { Buyers } from './buyers.repository.js';
import { FirstPartnerSecret } from './first-partner-secret.js';
import { PartnerEvents } from './partner-events.repository.js';
import { PartnerHealthReader } from './partner-health.reader.js';
import { PartnerSecretChanges } from './partner-secret-changes.js';
import { PartnerSecretController } from './partner-secret.controller.js';
import { PartnerSecrets } from './partner-secrets.repository.js';
import { PartnerSignatures } from './partner-signatures.js';
import { PartnerController } from './partner.controller.js';
import {
  BuyerEntity,
  BuyerMetricEntity,
  PartnerEventEntity,
  PartnerSecretEntity,
  PersonaEntity,
  PersonaMetricEntity,
} from './partner.entity.js';
import { PersonaReader } from './persona.reader.js';
import { RotatePartnerSecret } from './rotate-partner-secret.js';
import { ShowPartnerSecret } from './show-partner-secret.js';
import { TrustFiguresReader } from './trust-figures.reader.js';

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
    Buyers,
    FirstPartnerSecret,
    PartnerEvents,
    PartnerHealthReader,
    PartnerSecretChanges,
    PartnerSecrets,
    PartnerSignatures,
    PersonaReader,
    RotatePartnerSecret,
    ShowPartnerSecret,
    TrustFiguresReader,
  ],
  exports: [PartnerHealthReader, PartnerSecretChanges, RotatePartnerSecret, TrustFiguresReader],
})
export class PartnerModule {
  constructor(requests: SignedRequests, signatures: PartnerSignatures) {
    requests.register(signatures);
  }
}
