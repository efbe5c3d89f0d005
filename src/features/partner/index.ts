export { PartnerSecretService } from './partner-secret.service.js';
export { PartnerModule } from './partner.module.js';
export { BuyerContextView, PartnerPersona } from './partner.dto.js';
export { BUYER_FACTS, UPDATE_FACTS } from './persona.reader.js';
export { type BuyerFacts, type UpdateFacts, buyerContextOf, personaOf } from './persona.js';
