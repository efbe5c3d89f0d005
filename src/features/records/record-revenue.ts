import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { TeamOfRequest } from '../workspaces/index.js';
import type { RevenueEventEntity } from './records.entity.js';
import { hasOccurred, RevenueEvents } from './revenue-events.repository.js';
import type { RecordedRevenue, RecordRevenueBody, RevenueEventView } from './records.dto.js';

/** A person or a system of theirs logs revenue; what is sent again under the same external id answers the same record. */
@Injectable()
export class RecordRevenue {
  constructor(
    private readonly revenue: RevenueEvents,
    private readonly teamOfRequest: TeamOfRequest,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed, NotFound for a team that is not the caller's, or AlreadyExists when the external id names another event */
  async execute(caller: Caller, body: RecordRevenueBody): Promise<RecordedRevenue> {
    const occurredAt = body.occurredAt ?? undefined;
    if (occurredAt !== undefined && !hasOccurred(occurredAt, this.clock.now())) throw notYet();
    const teamId = await this.teamOfRequest.resolve(caller, body.teamId);
    requireRole(caller, teamId, 'operator');
    const { event, isNew } = await this.revenue.record({
      teamId,
      amount: body.amount,
      currency: body.currency,
      source: body.source,
      description: body.description ?? null,
      occurredAt,
      externalId: body.externalId ?? null,
      workPacketId: null,
      recordedBy: actorOf(caller),
    });
    return { ...viewOf(event), duplicate: !isNew };
  }
}

function notYet() {
  const message = 'occurredAt must not be in the future';
  return new ValidationFailed({ details: [{ path: 'occurredAt', rule: 'hasOccurred', message }] });
}

function viewOf(event: RevenueEventEntity): RevenueEventView {
  return {
    eventId: event.eventId,
    teamId: event.teamId,
    amount: event.amount,
    currency: event.currency,
    source: event.source,
    description: event.description,
    occurredAt: event.occurredAt,
    externalId: event.externalId,
    workPacketId: event.workPacketId,
    reverses: event.reverses,
    createdAt: event.createdAt,
  };
}
