import type { Tier } from '../../platform/auth/caller.js';
import { tierLimitsOf } from '../../platform/rate-limit/limits.js';
import { graceEnd, LICENCE_FAULTS, type LicenceFault, licenceStatus, validitySentence } from './licence.js';
import type { LicenceEntity } from './licence.entity.js';
import type { SubscriptionView } from './subscription.dto.js';

type Installed = Pick<LicenceEntity, 'entitlements' | 'expiresAt'>;

/**
 * How a workspace stands by what it has installed, whatever was checked; so a key that does not belong here says nothing
 * of what stands in it.
 */
export function subscriptionView(
  tier: Tier,
  installed: Installed | undefined,
  now: number,
  fault: LicenceFault | undefined,
): SubscriptionView {
  const status = installed ? licenceStatus(installed, now) : 'none';
  const holds = status === 'active' || status === 'grace';
  return {
    valid: fault === undefined,
    tier,
    status,
    entitlements: installed && holds ? [...installed.entitlements] : [],
    expiresAt: installed?.expiresAt ?? null,
    graceUntil: installed ? graceEnd(installed) : null,
    limits: tierLimitsOf(tier),
    reason: fault ?? null,
    message: fault ? LICENCE_FAULTS[fault] : validitySentence(installed!, now),
  };
}
