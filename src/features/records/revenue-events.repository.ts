import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { type Listing, newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf, insertOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AlreadyExists, ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Events } from '../events/index.js';
import { RevenueEventEntity } from './records.entity.js';
import type { RevenueEventsQuery, RevenueEventView } from './records.dto.js';

/** The clocks of those who report are not ours. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** An event to record. */
interface NewRevenueEvent extends Omit<
  RevenueEventEntity,
  'eventId' | 'workspaceId' | 'occurredAt' | 'reverses' | 'createdAt'
> {
  /** Unix milliseconds; now, if not said. */
  occurredAt?: number;
}

export function hasOccurred(at: number, now: number): boolean {
  return at <= now + CLOCK_TOLERANCE_MS;
}

/** Whether the same event was reported again. A report that names no time claims none. */
function isSameEvent(recorded: RevenueEventEntity, reported: NewRevenueEvent): boolean {
  return (
    recorded.amount === reported.amount &&
    recorded.currency === reported.currency &&
    recorded.source === reported.source &&
    recorded.description === reported.description &&
    (reported.occurredAt === undefined || recorded.occurredAt === reported.occurredAt)
  );
}

const LISTED = columnsOf(RevenueEventEntity, { without: ['workspaceId', 'recordedBy'] });

@Injectable()
export class RevenueEvents {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly events: Events,
  ) {}

  /**
   * Records an event in the open transaction, once per external id and once per work packet; `isNew` is false for one
   * that was there.
   * @throws AlreadyExists when the external id names an event with other content
   */
  async record(reported: NewRevenueEvent): Promise<{ event: RevenueEventEntity; isNew: boolean }> {
    const event = await this.insert(reported);
    if (!event) return { event: await this.alreadyRecorded(reported), isNew: false };
    const { eventId, amount, currency, source, occurredAt, externalId, workPacketId, recordedBy } = event;
    this.receipts.append({
      actor: recordedBy,
      action: 'revenue.recorded',
      entity: { type: 'revenue_event', id: eventId },
      teamId: event.teamId,
      capo: recordedBy.type === 'capo' ? recordedBy.id : null,
      summary: `${recordedBy.name} recorded ${amount} ${currency} from ${source}.`,
      details: { amount, currency, source, occurredAt, externalId, workPacketId },
    });
    this.events.record('revenue.recorded', { eventId, amount, currency, source });
    return { event, isNew: true };
  }

  /**
   * Takes an event back by another one of the same time and the other sign, so that every sum over every window is what it would
   * have been without it; once. Undefined when there is no such event, or it was taken back before.
   */
  async reverse(eventId: string, by: Actor): Promise<RevenueEventEntity | undefined> {
    const { scope } = this.db.unit;
    const { workspaceId } = scope;
    const event = await this.db.findOne(scope, RevenueEventEntity, { workspaceId, eventId });
    if (!event) return undefined;
    const { amount, currency, source, occurredAt, teamId } = event;
    const reversal = await this.write({
      ...event,
      eventId: newId('rev'),
      amount: -amount,
      externalId: null,
      workPacketId: null,
      reverses: eventId,
      recordedBy: by,
      createdAt: this.clock.now(),
    });
    if (!reversal) return undefined;
    this.receipts.append({
      actor: by,
      action: 'revenue.reversed',
      entity: { type: 'revenue_event', id: reversal.eventId },
      teamId,
      summary: `${by.name} took back ${amount} ${currency} from ${source}.`,
      details: { amount: -amount, currency, source, occurredAt, reverses: eventId },
    });
    const reversed = { eventId: reversal.eventId, amount: -amount, currency, source };
    this.events.record('revenue.recorded', reversed);
    return reversal;
  }

  /**
   * What was earned, the latest first, of what the caller may see.
   * @throws ValidationFailed when `until` is before `since`
   */
  list(scope: Scope, query: RevenueEventsQuery): Promise<Page<RevenueEventView>> {
    const { source, currency, since, until, ...paging } = query;
    if (since !== undefined && until !== undefined && until < since) throw endsBeforeItBegins();
    const equal = where({ workspace_id: scope.workspaceId, source, currency });
    const conditions = [equal.where];
    const values = [...equal.values];
    if (since !== undefined) conditions.push(`occurred_at >= $${values.push(new Date(since))}`);
    if (until !== undefined) conditions.push(`occurred_at < $${values.push(new Date(until))}`);
    const listing: Listing = {
      name: 'revenue events',
      select: LISTED,
      from: 'revenue_events',
      where: conditions.join(' and '),
      values,
      order: newestFirst('event_id', 'occurred_at'),
    };
    return readPage(this.db, scope, listing, paging);
  }

  /** Undefined when the external id or the packet has its event; a concurrent insert of the same id is waited for. */
  private async insert(reported: NewRevenueEvent): Promise<RevenueEventEntity | undefined> {
    const now = this.clock.now();
    return this.write({
      eventId: newId('rev'),
      workspaceId: this.db.unit.scope.workspaceId,
      teamId: reported.teamId,
      amount: reported.amount,
      currency: reported.currency,
      source: reported.source,
      description: reported.description,
      occurredAt: reported.occurredAt ?? now,
      externalId: reported.externalId,
      workPacketId: reported.workPacketId,
      reverses: null,
      recordedBy: reported.recordedBy,
      createdAt: now,
    });
  }

  /** Undefined when a row with one of its unique names is there; one that is being written is waited for. */
  private async write(row: RevenueEventEntity): Promise<RevenueEventEntity | undefined> {
    const { text, values } = insertOf(RevenueEventEntity, row);
    const [event] = await this.db.query<RevenueEventEntity>(
      `${text} on conflict do nothing returning ${columnsOf(RevenueEventEntity)}`,
      values,
    );
    return event;
  }

  private async alreadyRecorded(reported: NewRevenueEvent): Promise<RevenueEventEntity> {
    const { scope } = this.db.unit;
    const { workspaceId } = scope;
    const { externalId, workPacketId } = reported;
    const named = workPacketId === null ? { externalId } : { workPacketId };
    const recorded = await this.db.findOne(scope, RevenueEventEntity, { workspaceId, ...named });
    if (recorded && isSameEvent(recorded, reported)) return recorded;
    throw new AlreadyExists({
      message: 'This externalId names an event with other content.',
      // That of another team is not shown.
      details: { ...(recorded && { eventId: recorded.eventId }), ...(externalId !== null && { externalId }) },
    });
  }
}

function endsBeforeItBegins() {
  const message = 'until must not be before since';
  return new ValidationFailed({ details: [{ path: 'until', rule: 'notBeforeSince', message }] });
}
