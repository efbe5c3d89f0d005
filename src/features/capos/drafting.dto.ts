import { ApiProperty } from '@nestjs/swagger';

export class DraftingError {
  /**
   * The code of the error, such as `RATE_LIMITED`, `PROVIDER_UNAVAILABLE`, `TIMEOUT` or `MODEL_BUDGET_EXCEEDED`.
   * @example 'RATE_LIMITED'
   */
  code!: string;
  /**
   * What went wrong, with the provider's own reason.
   * @example 'The model provider answered with status 429: “Rate limit reached for requests”.'
   */
  message!: string;
}

/** How far the work on a draft has come. */
export class Drafting {
  /** How many attempts there have been, the present one included. @example 0 */
  attempts!: number;
  /**
   * When the next attempt begins, Unix milliseconds; null while one is under way, and while nothing begins: the capo is
   * paused, or the kill switch is engaged.
   * @example 1771401615000
   */
  nextAttemptAt!: number | null;
  /** Why the last attempt failed; null when none did. */
  @ApiProperty({ example: null })
  lastError!: DraftingError | null;
}
