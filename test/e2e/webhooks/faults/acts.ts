import { PinoLogger } from 'nestjs-pino';
import { DataSource } from 'typeorm';
import { Events } from '../../../../src/features/events/events.js';
import { RevenueEvents } from '../../../../src/features/records/revenue-events.repository.js';
import { SYSTEM } from '../../../../src/platform/auth/caller.js';
import { appDataSource } from '../../../../src/platform/database/data-source.js';
import { DatabaseAddress } from '../../../../src/platform/database/database-address.js';
import { Db } from '../../../../src/platform/database/db.js';
import { Channel } from '../../../../src/platform/database/channel.js';
import { Clock } from '../../../../src/platform/kernel/clock.js';
import { Receipts } from '../../../../src/platform/receipts/receipts.js';
import { Work } from '../../../../src/platform/work/work.js';

/**
 * Acts that cause events, more a second than HTTP would bring on a small machine: the program's own transaction, with
 * its row, receipt, event, deliveries and message, run from here.
 */
export class Acts {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly db: Db,
    private readonly revenue: RevenueEvents,
  ) {}

  static async open(url: string): Promise<Acts> {
    const dataSource = await new DataSource(appDataSource(url)).initialize();
    const db = new Db(dataSource);
    const clock = new Clock();
    const logger = new PinoLogger({ pinoHttp: { level: 'silent' } });
    const events = new Events(
      db,
      clock,
      new Work(db, new Channel(new DatabaseAddress(url, url), db, logger)),
    );
    return new Acts(dataSource, db, new RevenueEvents(db, clock, new Receipts(db, clock), events));
  }

  /** Records revenue; answers the id of the event, and when it was about to commit (`performance.now()`). */
  async recordRevenue(workspaceId: string): Promise<{ eventId: string; at: number }> {
    return this.db.transaction({ workspaceId, teamIds: 'all' }, async ({ events }) => {
      await this.revenue.record({
        teamId: null,
        amount: 1,
        currency: 'EUR',
        source: 'test',
        description: null,
        externalId: null,
        workPacketId: null,
        recordedBy: SYSTEM,
      });
      return { eventId: events.at(-1)!.eventId, at: performance.now() };
    });
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
  }
}
