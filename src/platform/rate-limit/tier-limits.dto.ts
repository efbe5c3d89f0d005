/** What a tier allows to a workspace. */
export class TierLimits {
  /** Requests per minute of the tier, for the whole workspace; null is unlimited. @example 120 */
  requestsPerMinute!: number | null;
  /** Requests per day of the tier, for the whole workspace; null is unlimited. @example 10000 */
  requestsPerDay!: number | null;
}
