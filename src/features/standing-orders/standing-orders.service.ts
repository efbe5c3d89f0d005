import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf, type Actor } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { Id } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
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
import { columnsOfRule, newOrder, requireVersionRead, ruleOf, type VersionRead } from './order-content.js';
import { restrains, tightens } from './standing-order.js';
import { loosensTerms } from './looseness.js';
import { StandingOrderRules } from './standing-order-rules.js';

/**
 * Why work on a packet waits: standing orders delay it until a time. Where an order may delay less from now on, what is delayed is
 * decided again at once, instead of waiting for a time that no order asks for any more.
 */
export const THROTTLED = 'THROTTLED';

const LOOSER_TERMS =
  'Only an admin may create a standing order under which approvals escalate or stay open for more than 72 hours.';

interface Ending {
  /** For the receipt of each. */
  details: Record<string, unknown>;
  /** Leaves in force what restrains: no person has asked for more to be let through. */
  keepRestraints?: boolean;
}

/** The ids of those that are archived now and were not before, and of those that stay in force. */
export interface ArchivedOrders {
  archived: string[];
  kept: string[];
}

/** Creates orders, and lets them decide, tries them out, silences and ends them. */
@Injectable()
export class StandingOrderService {
  constructor(
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly teamOfRequest: TeamOfRequest,
    private readonly rules: StandingOrderRules,
  ) {}

  /**
   * Lets an order decide from now on; where something speaks against it, it takes an owner who says that they know.
   * @param ifMatch the hash of what the caller has read
   * @throws NotFound, InvalidTransition, Forbidden, what {@link requireVersionRead} throws, or SimulationRequired without the
   * acknowledgement of an owner
   */
  async activate(
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

  /** Ends an order for good. The row stays, since decisions name it. @throws NotFound */
  async archive(caller: Caller, standingOrderId: string): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    const archived = archive(order, this.clock.now());
    if (!archived) return viewOf(order, caller);
    this.orders.saveStatus(archived);
    this.receipts.append(receiptOf(archived, 'archived', actorOf(caller)));
    await this.work.hasten(THROTTLED);
    return viewOf(archived, caller);
  }

  /**
   * Silences an order until it is activated again. Anyone who may act may stop; only those who may loosen may loosen.
   * @throws NotFound, InvalidTransition, or Forbidden when the pause would loosen
   */
  async pause(caller: Caller, standingOrderId: string): Promise<StandingOrderView> {
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
    await this.work.hasten(THROTTLED);
    return viewOf(paused, caller);
  }

  /**
   * Tries an order out: each decision says what it would have changed, and it changes nothing.
   * @throws NotFound, Forbidden, what {@link requireVersionRead} throws, or InvalidTransition for an order that is archived or has expired
   */
  async shadow(caller: Caller, standingOrderId: string, read: VersionRead): Promise<StandingOrderView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'admin');
    requireVersionRead(order, read, false);
    const shadowed = shadow(order, this.clock.now());
    if (!shadowed) return viewOf(order, caller);
    this.orders.saveStatus(shadowed);
    this.receipts.append(receiptOf(shadowed, 'shadowed', actorOf(caller)));
    if (order.status === 'active') await this.work.hasten(THROTTLED);
    return viewOf(shadowed, caller);
  }

  /**
   * Creates a standing order, and activates it unless a draft was asked for or something speaks against it.
   * @throws Forbidden, ValidationFailed, or NotFound for a team that the caller may not see
   */
  async create(caller: Caller, body: CreateStandingOrderBody): Promise<NewStandingOrderView> {
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

  /**
   * Ends several orders for good, whatever their status: what they came with has ended.
   * In the open transaction, which sees the whole workspace.
   */
  async archiveAll(
    standingOrderIds: readonly string[],
    by: Actor,
    { details, keepRestraints = false }: Ending,
  ): Promise<ArchivedOrders> {
    if (standingOrderIds.length === 0) return { archived: [], kept: [] };
    const orders = await this.orders.lockUnarchived(standingOrderIds);
    const at = this.clock.now();
    const kept = orders.filter((order) => keepRestraints && order.status === 'active' && tightens(order));
    const ending = orders.filter((order) => !kept.includes(order));
    for (const order of ending) {
      const archived = archive(order, at)!;
      this.orders.saveStatus(archived);
      this.receipts.append(receiptOf(archived, 'archived', by, { ...details, from: order.status }));
    }
    await this.work.hasten(THROTTLED);
    return { archived: ending.map(idOf), kept: kept.map(idOf) };
  }

  /**
   * Gives the orders of a team that ends to another team, or to none. Whose order it is belongs to its rule, so each move is
   * a version. Orders that allow something are paused: nobody has allowed it there.
   * In the open transaction, which sees the whole workspace. Answers how many orders are paused.
   * @param to whose they are from now on, and how a receipt says that: `to the team Sales`, `to no team`
   */
  async move(from: string, to: { teamId: Id<'team'> | null; where: string }, by: Actor): Promise<number> {
    const at = this.clock.now();
    const orders = await this.orders.lockOfTeam(from);
    const moved = orders.map((order) => ({ order, next: movedTo(to.teamId, order, at) }));
    for (const { order, next } of moved) {
      this.orders.saveVersion(next, order, { by, at });
      const isPaused = next.status !== order.status;
      const details = { rule: ruleOf(next), text: next.text, from, to: to.teamId, isPaused };
      this.receipts.append({
        ...receiptOf(next, 'moved', by, details),
        summary: `${by.name} moved the standing order "${order.name}" ${to.where}${isPaused ? ', and paused it' : ''}.`,
      });
    }
    await this.work.hasten(THROTTLED);
    return moved.filter(({ order, next }) => next.status !== order.status).length;
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

function idOf({ standingOrderId }: StandingOrderEntity): string {
  return standingOrderId;
}

function movedTo(teamId: Id<'team'> | null, order: StandingOrderEntity, at: number): StandingOrderEntity {
  const isLetting = order.effect === 'allow' && (order.status === 'active' || order.status === 'shadow');
  return {
    ...order,
    ...columnsOfRule({ ...ruleOf(order), teamId }),
    version: order.version + 1,
    status: isLetting ? 'paused' : order.status,
    simulation: null,
    evalRunId: null,
    updatedAt: at,
  };
}
