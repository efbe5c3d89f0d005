import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** For how many days what is kept for a while is kept, unless the workspace says otherwise (docs/retention.md). */
export const RETENTION_DAYS = { deliveries: 30, signals: 365, withdrawnDocuments: 365, partnerUpdates: 400 };

/** The fewest days: receivers and readers look back as far. `app.delete_expired` takes no other number either. */
export const FEWEST_DAYS: Record<keyof typeof RETENTION_DAYS, number> = {
  deliveries: 1,
  signals: 30,
  withdrawnDocuments: 1,
  // The trends of the buyers look back seven days.
  partnerUpdates: 30,
};
export const MOST_DAYS = 3_650;

/** Days by subject; null: the default. What is left out stays as it is. */
export class ChangeRetention {
  /** Deliveries that have ended, and their events; 30 unless said otherwise. @example 90 */
  @IsOptional()
  @IsInt()
  @Min(FEWEST_DAYS.deliveries)
  @Max(MOST_DAYS)
  deliveries?: number | null;

  /** Signals that were acknowledged or withdrawn; 365 unless said otherwise. @example 365 */
  @IsOptional()
  @IsInt()
  @Min(FEWEST_DAYS.signals)
  @Max(MOST_DAYS)
  signals?: number | null;

  /** Documents that were withdrawn; 365 unless said otherwise. @example 365 */
  @IsOptional()
  @IsInt()
  @Min(FEWEST_DAYS.withdrawnDocuments)
  @Max(MOST_DAYS)
  withdrawnDocuments?: number | null;

  /** Updates of the partner; 400 unless said otherwise. @example 400 */
  @IsOptional()
  @IsInt()
  @Min(FEWEST_DAYS.partnerUpdates)
  @Max(MOST_DAYS)
  partnerUpdates?: number | null;
}

/** For how many days each subject is kept. */
export class RetentionView {
  /** Deliveries that have ended, and their events. @example 90 */
  deliveries!: number;
  /** Signals that were acknowledged or withdrawn. @example 365 */
  signals!: number;
  /** Documents that were withdrawn. @example 365 */
  withdrawnDocuments!: number;
  /** Updates of the partner. @example 400 */
  partnerUpdates!: number;
}

/** What holds: the stored days where they are within the bounds, as `app.delete_expired` reads them, else the default. */
export function retentionOf(stored: Readonly<Record<string, unknown>>): RetentionView {
  const days = Object.entries(RETENTION_DAYS).map(([name, standard]) => {
    const own = stored[name];
    const isFit =
      Number.isInteger(own) &&
      (own as number) >= FEWEST_DAYS[name as keyof RetentionView] &&
      (own as number) <= MOST_DAYS;
    return [name, isFit ? own : standard];
  });
  return Object.fromEntries(days) as unknown as RetentionView;
}
