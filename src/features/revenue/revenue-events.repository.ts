import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf, insertOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AlreadyExists } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Events } from '../events/events.js';
import { isSameEvent, type NewRevenueEvent } from './revenue-event.js';
import { RevenueEventEntity } from './revenue-event.entity.js';

/** Revenue of the last 24 hours, 7 and 30 days, in one currency. */
export interface RevenueSums {
  /** The one that most events of the last 30 days are in; null without any event. */
  currency: string | null;
  h24: number;
  d7: number;
  d30: number;
}

const NOTHING: RevenueSums = { currency: null, h24: 0, d7: 0, d30: 0 };

@Injectable()
export class RevenueEvents {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly events: Events,
  ) {}

  /**
   * Records an event in the open transaction, once per external id; `isNew` is false for one that was there.
   * @throws AlreadyExists when the external id names an event with other content
   */
  async record(reported: NewRevenueEvent): Promise<{ event: RevenueEventEntity; isNew: boolean }> {
    const event = await this.insert(reported);
    if (!event) return { event: await this.alreadyRecorded(reported), isNew: false };
    const { eventId, amount, currency, source, occurredAt, externalId, recordedBy } = event;
    this.receipts.append({
      actor: recordedBy,
      action: 'revenue.recorded',
      entity: { type: 'revenue_event', id: eventId },
      capo: recordedBy.type === 'capo' ? recordedBy.id : null,
      summary: `${recordedBy.name} recorded ${amount} ${currency} from ${source}.`,
      details: { amount, currency, source, occurredAt, externalId },
    });
    this.events.record('revenue.recorded', { eventId, amount, currency, source });
    return { event, isNew: true };
  }

  /**
   * What came in by `at`. Amounts of different currencies have no sum, so the sums are those of the currency that
   * most events are in.
   */
  async sums(scope: Scope, at: number): Promise<RevenueSums> {
    const [sums] = await this.db.read<RevenueSums>(
      scope,
      `select currency,
         coalesce(sum(amount) filter (where occurred_at > $2::timestamptz - interval '24 hours'), 0) as h24,
         coalesce(sum(amount) filter (where occurred_at > $2::timestamptz - interval '7 days'), 0) as d7,
         sum(amount) as d30
       from revenue_events
       where workspace_id = $1 and occurred_at > $2::timestamptz - interval '30 days' and occurred_at <= $2
       group by currency order by count(*) desc, currency limit 1`,
      [scope.workspaceId, new Date(at)],
    );
    return sums ?? NOTHING;
  }

  /** Undefined when the external id is taken; a concurrent insert of the same id is waited for. */
  private async insert(reported: NewRevenueEvent): Promise<RevenueEventEntity | undefined> {
    const now = this.clock.now();
    const { text, values } = insertOf(RevenueEventEntity, {
      eventId: newId('rev'),
      workspaceId: this.db.unit.scope.workspaceId,
      amount: reported.amount,
      currency: reported.currency,
      source: reported.source,
      description: reported.description,
      occurredAt: reported.occurredAt ?? now,
      externalId: reported.externalId,
      recordedBy: reported.recordedBy,
      createdAt: now,
    });
    const [event] = await this.db.query<RevenueEventEntity>(
      `${text} on conflict on constraint revenue_events_external_id do nothing
       returning ${columnsOf(RevenueEventEntity)}`,
      values,
    );
    return event;
  }

  private async alreadyRecorded(reported: NewRevenueEvent): Promise<RevenueEventEntity> {
    const { scope } = this.db.unit;
    const recorded = await this.db.findOne(scope, RevenueEventEntity, {
      workspaceId: scope.workspaceId,
      externalId: reported.externalId,
    });
    if (isSameEvent(recorded!, reported)) return recorded!;
    throw new AlreadyExists({
      message: 'This externalId names an event with other content.',
      details: { eventId: recorded!.eventId, externalId: reported.externalId },
    });
  }
}
