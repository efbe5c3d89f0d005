import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';

/** Rows of all workspaces that are kept no longer: a function of the database deletes them. */
@Injectable()
export class ExpiredRows {
  constructor(private readonly db: Db) {}

  /** Deletes at most so many of each subject, and answers how many they were. */
  delete(
    rowsAtOnce: number,
    bounds: Record<string, { standard: number; fewest: number; most: number }>,
  ): Promise<{ subject: string; deleted: number }[]> {
    return this.db.system('select subject, deleted from app.delete_expired($1, $2::jsonb)', [
      rowsAtOnce,
      JSON.stringify(bounds),
    ]);
  }
}
