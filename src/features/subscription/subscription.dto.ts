import { IsString } from 'class-validator';
import type { Tier } from '../../platform/auth/caller.js';
import { IsOmittable } from '../../platform/kernel/decorators.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { TierLimits } from '../../platform/rate-limit/tier-limits.dto.js';
import { type LicenceFault, type SubscriptionStatus, MAX_LICENCE_KEY } from './licence.js';

/** Body of `POST /subscription/verify`. */
export class VerifySubscriptionBody {
  /**
   * The licence key to install, if it is valid; owner and admin may. Left out, the installed licence is checked again.
   * @example 'CLIC1.eyJhbGciOiJFZDI1NTE5IiwiZW50aXRsZW1lbnRzIjpbXX0.MEQCIGn7c2lnbmF0dXJl'
   */
  @IsOmittable()
  @IsString()
  @MaxLength(MAX_LICENCE_KEY)
  licenseKey?: string;
}

/** How the workspace stands, and whether the licence that was checked is valid. */
export class SubscriptionView {
  /**
   * Whether the licence that was given, or else the installed one, is valid in this workspace and at this time. It is so
   * in its grace, too.
   * @example true
   */
  valid!: boolean;
  /** The tier that the workspace has now: free, pro or enterprise. @example 'pro' */
  tier!: Tier;
  /**
   * How the installed licence stands: `active`, in its 14 days of `grace`, or `expired`; `none` when there is none.
   * @example 'active'
   */
  status!: SubscriptionStatus;
  /** What the installed licence grants besides the tier; nothing once it has expired. @example ['skill-packs', 'sso'] */
  entitlements!: string[];
  /** When the installed licence ends, Unix milliseconds; null when there is none. @example 1827619200000 */
  expiresAt!: number | null;
  /**
   * When the workspace goes back to the tier that it has without a licence, Unix milliseconds; null when there is none.
   * @example 1828828800000
   */
  graceUntil!: number | null;
  /** The limits of the tier. */
  limits!: TierLimits;
  /**
   * Why the licence that was checked is not valid: no_public_key, no_licence, malformed, unsupported_version,
   * unsupported_algorithm, unknown_key, bad_signature, other_workspace, not_yet_issued, superseded or expired; null when
   * it is.
   * @example null
   */
  reason!: LicenceFault | null;
  /** The same in a sentence. @example 'The licence is valid until 2027-12-01 00:00 UTC.' */
  message!: string;
}
