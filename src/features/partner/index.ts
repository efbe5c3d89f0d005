export { PartnerSecretService } from './partner-secret.service.js';
export { PartnerModule } from './partner.module.js';
export { BuyerContextView, PartnerPersona } from './partner.dto.js';
export {
  BUYER_FACTS,
  buyerContextOf,
  type BuyerFacts,
  personaOf,
  UPDATE_FACTS,
  type UpdateFacts,
} from './persona.reader.js';
