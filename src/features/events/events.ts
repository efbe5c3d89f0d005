import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { EventRow } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { RequestContext } from '../../platform/kernel/request-context.js';
import { Work } from '../../platform/work/work.js';
import type { CapoRole, DirectiveStatus, Priority, Reversibility, Risk } from '../terms/index.js';

/** What each event says (CONTRACT, Webhooks); `receiptHead` is added to every payload where the chain is locked. */
interface EventPayloads {
  'directive.created': {
    directiveId: string;
    text: string;
    capo: CapoRole | null;
    priority: Priority;
    requiresApproval: boolean;
  };
  'directive.executed': {
    directiveId: string;
    status: Extract<DirectiveStatus, 'executed' | 'failed'>;
    summary: string;
    receiptId: string;
  };
  'approval.requested': {
    approvalId: string;
    /** Null where an agent from outside asks. */
    directiveId: string | null;
    actionRequestId: string | null;
    questionId: string | null;
    title: string;
    risk: Risk;
    reversibility: Reversibility;
    /** Unix milliseconds. */
    expiresAt: number;
    url: string;
  };
  /** However it ended. Neither parameters nor permits stand in an event. */
  'approval.decided': {
    approvalId: string;
    kind: string;
    /** The directive, action request or question that it was about. */
    entityId: string;
    title: string;
    /** Of an action request. */
    tool: string | null;
    /** The agent from outside that asked. */
    agent: { tokenId: string; name: string } | null;
    decision: ApprovalDecision;
    /** Of the approval from now on. */
    status: string;
    contentHash: string | null;
    decidedBy: Actor;
    /** Unix milliseconds. */
    decidedAt: number;
    feedback: string | null;
    receiptId: string;
  };
  /** An agent from outside has said what came of its action request. */
  'action.completed': {
    actionRequestId: string;
    tool: string;
    paramsHash: string;
    agent: { tokenId: string; name: string | null };
    outcome: 'succeeded' | 'failed';
    receiptId: string;
  };
  'kill.activated': {
    reason: string | null;
    epoch: number;
    halted: { queued: number; executing: number; sending: number; voided: number };
  };
  'revenue.recorded': { eventId: string; amount: number; currency: string; source: string };
  'pack.installed': { packId: string; version: string };
  'pack.revoked': { packId: string; version: string; reason?: string };
  'report.daily': { reportId: string; date: string; headline: string; url: string };
  /** Sent on request, to see that a destination receives and verifies. */
  'webhook.test': { destinationId: string; message: string };
}

export type ApprovalDecision = 'approved' | 'rejected' | 'changed' | 'expired' | 'cancelled' | 'answered';

export type EventType = keyof EventPayloads;

/** What a destination without a choice of its own receives: the table of SPECIFICATION, Events. */
export const EVENT_TYPES = [
  'directive.created',
  'directive.executed',
  'pack.installed',
  'pack.revoked',
  'revenue.recorded',
  'approval.requested',
  'kill.activated',
] as const satisfies readonly EventType[];

/** What a destination can choose. */
export const SUBSCRIBABLE_EVENTS = [
  ...EVENT_TYPES,
  'approval.decided',
  'action.completed',
  'report.daily',
] as const satisfies readonly EventType[];

export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];

/** The work of delivering an event; its queue is the destination. app.finish enqueues it with the act. */
export const DELIVERY_WORK = 'webhook.deliver';

/**
 * Tells the outside what has happened (SPECIFICATION, Outbound webhooks). An event and its deliveries are written in
 * the transaction of the act, so that none exists without the other; sending begins after the COMMIT.
 */
@Injectable()
export class Events {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
  ) {}

  /**
   * Adds an event to the open transaction, for every destination that receives such events; nothing is kept of it when
   * there is none.
   */
  record<T extends EventType>(event: T, payload: EventPayloads[T]): void {
    this.add(event, payload);
  }

  /** Adds an event for one destination alone, whatever it has chosen to receive. */
  recordFor<T extends EventType>(
    destinationId: string,
    event: T,
    payload: EventPayloads[T],
  ): Pick<EventRow, 'eventId' | 'requestId'> & { deliveryId: string } {
    const only = { destinationId, deliveryId: newId('dlv') };
    const { eventId, requestId } = this.add(event, payload, only);
    return { eventId, requestId, deliveryId: only.deliveryId };
  }

  private add<T extends EventType>(event: T, payload: EventPayloads[T], only?: EventRow['only']): EventRow {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const body = JSON.stringify({ event, timestamp: this.clock.now(), workspaceId, payload });
    if (unit.events.length === 0) this.work.notify(DELIVERY_WORK, () => unit.reached);
    const row: EventRow = {
      eventId: newId('evt'),
      event,
      requestId: RequestContext.current?.requestId ?? newId('req'),
      // The payload stays open: the head of the chain is added where it is known.
      bodyStart: body.slice(0, -'}}'.length),
      ...(only && { only }),
    };
    unit.events.push(row);
    return row;
  }
}
