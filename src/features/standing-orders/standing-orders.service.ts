import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { Id } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { TeamOfRequest } from '../workspaces/index.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import {
  ActivationExamination,
  allowsIrreversible,
  requireAcknowledgement,
  requireOwner,
} from './activation-examination.js';
import { receiptOf, viewOf, newViewOf } from './standing-order-view.js';
import type {
  ActivateStandingOrderBody,
  StandingOrderView,
  CreateStandingOrderBody,
  NewStandingOrderView,
} from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';
import { requireVersionRead, type VersionRead } from './version-read.js';
import { ThrottledWork } from './throttled-work.js';
import { restrains, tightens } from './standing-order.js';
import { loosensTerms } from './looseness.js';
import { newOrder } from './order-content.js';
import { StandingOrderRules } from './standing-order-rules.js';

/*
 * Each answers the order as it is afterwards, or undefined when it is that way already: asking again changes nothing.
 */

/** @throws InvalidTransition for an order that is archived or that has expired */
function activate(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  if (order.status === 'active') return undefined;
  requireUsable(order, at, 'activating it');
  return { ...order, status: 'active', heldBecause: null, activatedAt: at, updatedAt: at };
}

/** Only tries it out. @throws InvalidTransition for an order that is archived or that has expired */
function shadow(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  if (order.status === 'shadow') return undefined;
  requireUsable(order, at, 'trying it out');
  return { ...order, status: 'shadow', updatedAt: at };
}

/** @throws InvalidTransition for an order that neither decides nor is tried out */
function pause(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  if (order.status === 'paused') return undefined;
  if (order.status !== 'active' && order.status !== 'shadow') {
    throw new InvalidTransition({
      message: `Only a standing order that is active or in shadow can be paused; this one is ${order.status}.`,
    });
  }
  return { ...order, status: 'paused', updatedAt: at };
}

export function archive(order: StandingOrderEntity, at: number): StandingOrderEntity | undefined {
  return order.status === 'archived' ? undefined : { ...order, status: 'archived', updatedAt: at };
}

function requireUsable({ status, expiresAt }: StandingOrderEntity, at: number, doing: string): void {
  if (status === 'archived') {
    throw new InvalidTransition({ message: 'The standing order is archived; create a new one instead.' });
  }
  if (expiresAt !== null && expiresAt <= at) {
    throw new InvalidTransition({
      message: `The standing order has expired, so ${doing} would have no effect.`,
    });
  }
}

/** Lets an order decide from now on; where something speaks against it, it takes an owner who says that they know. */
@Injectable()
export class ActivateStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * @param ifMatch the hash of what the caller has read
   * @throws NotFound, InvalidTransition, Forbidden, what {@link requireVersionRead} throws, or SimulationRequired without the
   * acknowledgement of an owner
   */
  async execute(
    caller: Caller,
    standingOrderId: string,
    { acknowledge, version }: ActivateStandingOrderBody,
    ifMatch: string | null,
  ): Promise<StandingOrderView> {
    const acknowledged = acknowledge === true;
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    requireVersionRead(order, { version, hash: ifMatch }, acknowledged);
    if (!activate(order, this.clock.now())) return viewOf(order, caller);
    // Known without looking at the past, so who may not do it is told before anything is computed.
    if (acknowledged && (await this.examination.relaxesIrreversible(order))) {
      requireOwner(caller, order, [allowsIrreversible(order)]);
    }
    const by = actorOf(caller);
    const examined = await this.examination.of(order, by);
    requireAcknowledgement(examined, acknowledged, caller);
    await this.examination.beforeActivation();
    const active = activate(examined.order, this.clock.now())!;
    this.orders.saveStatus(active);
    this.receipts.append(
      receiptOf(active, 'activated', by, {
        acknowledged: examined.heldBecause !== null,
        ...examined.details,
      }),
    );
    return viewOf(active, caller);
  }
}

/** Ends an order for good. The row stays, since decisions name it. */
@Injectable()
export class ArchiveStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound */
  async execute(caller: Caller, standingOrderId: string): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    const archived = archive(order, this.clock.now());
    if (!archived) return viewOf(order, caller);
    this.orders.saveStatus(archived);
    this.receipts.append(receiptOf(archived, 'archived', actorOf(caller)));
    await this.throttled.decideAgain();
    return viewOf(archived, caller);
  }
}

/** Silences an order until it is activated again. Anyone who may act may stop; only those who may loosen may loosen. */
@Injectable()
export class PauseStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound, InvalidTransition, or Forbidden when the pause would loosen */
  async execute(caller: Caller, standingOrderId: string): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'operator');
    if (order.status !== 'shadow' && restrains(order)) {
      requireRole(
        caller,
        order.teamId,
        'admin',
        'Only an admin may pause a standing order that restricts work packets.',
      );
    }
    const paused = pause(order, this.clock.now());
    if (!paused) return viewOf(order, caller);
    this.orders.saveStatus(paused);
    this.receipts.append(receiptOf(paused, 'paused', actorOf(caller)));
    await this.throttled.decideAgain();
    return viewOf(paused, caller);
  }
}

/** Tries an order out: each decision says what it would have changed, and it changes nothing. */
@Injectable()
export class ShadowStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly throttled: ThrottledWork,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound, Forbidden, what {@link requireVersionRead} throws, or InvalidTransition for an order that is archived or has expired */
  async execute(caller: Caller, standingOrderId: string, read: VersionRead): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    requireVersionRead(order, read, false);
    const shadowed = shadow(order, this.clock.now());
    if (!shadowed) return viewOf(order, caller);
    this.orders.saveStatus(shadowed);
    this.receipts.append(receiptOf(shadowed, 'shadowed', actorOf(caller)));
    if (order.status === 'active') await this.throttled.decideAgain();
    return viewOf(shadowed, caller);
  }
}

const LOOSER_TERMS =
  'Only an admin may create a standing order under which approvals escalate or stay open for more than 72 hours.';

/** Creates a standing order, and activates it unless a draft was asked for or something speaks against it. */
@Injectable()
export class CreateStandingOrder {
  constructor(
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly teamOfRequest: TeamOfRequest,
    private readonly rules: StandingOrderRules,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** @throws Forbidden, ValidationFailed, or NotFound for a team that the caller may not see */
  async execute(caller: Caller, body: CreateStandingOrderBody): Promise<NewStandingOrderView> {
    const teamId = await this.teamOf(caller, body.teamId);
    requireRole(caller, teamId, 'operator');
    if (!tightens(body)) {
      requireRole(
        caller,
        teamId,
        'admin',
        'Only an admin may create a standing order that allows work packets.',
      );
    } else if (loosensTerms({ effect: body.effect, approval: body.approval ?? null })) {
      requireRole(caller, teamId, 'admin', LOOSER_TERMS);
    }
    const at = this.clock.now();
    const rule = await this.rules.of(scopeOf(caller), teamId, body);
    const by = actorOf(caller);
    const { workspaceId } = caller;
    const { name } = body;
    const draft = newOrder({ workspaceId, name, text: body.text ?? name, rule }, by, at);
    const examined = await this.examination.ofNew(draft, by);
    const { heldBecause } = examined;
    const active = heldBecause === null && !body.draft ? activate(examined.order, at) : undefined;
    if (active) await this.examination.beforeActivation();
    const order = active ?? { ...examined.order, heldBecause };
    this.orders.add(order);
    this.examination.keepNew(examined);
    this.receipts.append(receiptOf(order, 'created', by, { rule, ...examined.details }));
    if (active) this.receipts.append(receiptOf(order, 'activated', by, examined.details));
    return { ...newViewOf(order, caller), ...(await this.rules.warnings(order)) };
  }

  /** Null is said, not left out: the whole workspace, which is more than a member of a team sees. */
  private async teamOf(caller: Caller, asked: Id<'team'> | null | undefined): Promise<Id<'team'> | null> {
    if (asked === null) {
      if (caller.teamIds.length > 0) {
        requireRole(
          caller,
          null,
          'admin',
          'Only an admin may create a standing order for the whole workspace.',
        );
      }
      return null;
    }
    return (await this.teamOfRequest.resolve(caller, asked)) as Id<'team'> | null;
  }
}
