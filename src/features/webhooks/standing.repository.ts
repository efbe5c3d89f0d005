import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { PROBE_EVERY_MS } from './delivery.js';

/** How a destination stands with us. */
export interface Standing {
  status: 'active' | 'paused' | 'gone';
  consecutiveFailures: number;
  url: string;
}

/** Changes of a destination that its own answers bring about; each belongs to the open transaction. */
@Injectable()
export class Standings {
  constructor(private readonly db: Db) {}

  /**
   * Locks the destination; undefined when it was deleted meanwhile. Not `for update`: that would shut out the reference
   * of an event that is just being written, by an act that holds the head of the chain, which this act will want.
   */
  async lock(workspaceId: string, destinationId: string): Promise<Standing | undefined> {
    const [standing] = await this.db.query<Standing>(
      `select status, consecutive_failures, url from webhook_destinations
       where workspace_id = $1 and destination_id = $2 and deleted_at is null for no key update`,
      [workspaceId, destinationId],
    );
    return standing;
  }

  /** One more delivery was given up; the destination stays as it is. */
  countFailure(workspaceId: string, destinationId: string): void {
    this.db.write(
      `update webhook_destinations set consecutive_failures = consecutive_failures + 1
       where workspace_id = $1 and destination_id = $2`,
      [workspaceId, destinationId],
    );
  }

  /** One more delivery was given up, and that was one too many: nothing is sent but a probe now and then. */
  pause(workspaceId: string, destinationId: string): void {
    this.db.write(
      `update webhook_destinations set status = 'paused', consecutive_failures = consecutive_failures + 1,
         probe_at = now() + $3 * interval '1 millisecond'
       where workspace_id = $1 and destination_id = $2`,
      [workspaceId, destinationId, PROBE_EVERY_MS],
    );
  }

  /** The probe arrived: everything that waits is sent again. */
  recover(workspaceId: string, destinationId: string): void {
    this.db.write(
      `update webhook_destinations set status = 'active', consecutive_failures = 0, probe_at = null,
         last_delivery_at = now()
       where workspace_id = $1 and destination_id = $2`,
      [workspaceId, destinationId],
    );
  }

  /** The receiver wants nothing any more. */
  markGone(workspaceId: string, destinationId: string): void {
    this.db.write(
      `update webhook_destinations set status = 'gone', probe_at = null where workspace_id = $1 and destination_id = $2`,
      [workspaceId, destinationId],
    );
  }
}
