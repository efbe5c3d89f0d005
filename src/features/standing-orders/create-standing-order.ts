import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { Id } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { TeamOfRequest } from '../workspaces/index.js';
import { ActivationExamination } from './activation-examination.js';
import { loosensTerms } from './looseness.js';
import { newOrder } from './order-content.js';
import { tightens } from './standing-order.js';
import { StandingOrderRules } from './standing-order-rules.js';
import { activate } from './standing-order-status.js';
import { newViewOf, receiptOf } from './standing-order-view.js';
import type { CreateStandingOrderBody, NewStandingOrderView } from './standing-orders.dto.js';
import { StandingOrders } from './standing-orders.repository.js';

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
