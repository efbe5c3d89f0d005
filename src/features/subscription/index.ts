export { type SubscriptionStatus, licenceStatus } from './licence.js';
export { SubscriptionModule } from './subscription.module.js';
