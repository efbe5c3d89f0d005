import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { validationPipe } from '../../platform/http/validation.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import type { Id } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { ActivationExamination } from './activation-examination.js';
import { columnsOfRule, newOrder, type OrderContent, ruleOf } from './order-content.js';
import type { StandingOrderEntity } from './standing-order.entity.js';
import { receiptOf } from './standing-order-view.js';
import { StandingOrders } from './standing-orders.repository.js';
import { StandingOrderRules, type ZoneLookUps } from './standing-order-rules.js';
import { CreateStandingOrderBody } from './standing-orders.dto.js';
import { archive } from './standing-orders.service.js';

/** An order that nobody has written themselves. */
export interface NewDraft extends OrderContent {
  /** Its origin, for the person who activates it. */
  heldBecause: string;
  /** For its receipt, beside the rule. */
  details?: Record<string, unknown>;
}

const PROPOSED = 'A capo proposed it; it decides nothing until a person activates it.';

/** Who proposes an order, and for whom. */
interface Proposal {
  by: Actor;
  teamId: Id<'team'> | null;
  workPacketId: string;
}

/** Orders that decide nothing until a person activates them: from a suggestion, from what a capo proposed, or from a skill pack. */
@Injectable()
export class StandingOrderDrafts {
  readonly #validation = validationPipe();

  constructor(
    private readonly db: Db,
    private readonly orders: StandingOrders,
    private readonly examination: ActivationExamination,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
    private readonly rules: StandingOrderRules,
  ) {}

  /** Adds one in the open transaction. */
  draft(draft: NewDraft, by: Actor): StandingOrderEntity {
    const order = this.orderOf(draft, by);
    this.add(order, draft.details, by);
    return order;
  }

  /**
   * {@link draft}, with its simulation and its safety eval, as an order that a person creates.
   * @throws NeededBeforehand, before anything is written
   */
  async draftExamined(draft: NewDraft, by: Actor): Promise<StandingOrderEntity> {
    const examined = await this.examination.ofNew(this.orderOf(draft, by), by);
    const heldBecause = [draft.heldBecause, examined.heldBecause].filter(Boolean).join(' ');
    const order = { ...examined.order, heldBecause };
    this.add(order, { ...draft.details, ...examined.details }, by);
    this.examination.keepNew(examined);
    return order;
  }

  /**
   * Reads orders that no request brought: what a capo proposed, or what a skill pack contains.
   * `written` is a body of `POST /standing-orders`.
   * @throws ValidationFailed for what no person could create either
   */
  async read(
    scope: Scope,
    teamId: Id<'team'> | null,
    written: object,
    zones?: ZoneLookUps,
  ): Promise<OrderContent> {
    const body: CreateStandingOrderBody = await this.#validation.transform(written, {
      type: 'body',
      metatype: CreateStandingOrderBody,
    });
    const { name, text } = body;
    return { name, text: text ?? name, rule: await this.rules.of(scope, teamId, body, zones) };
  }

  /** For several orders that are read together. */
  lookUps(scope: Scope): ZoneLookUps {
    return this.rules.lookUps(scope);
  }

  /**
   * Makes the next version of a draft that nobody has changed since it was written: from a later version of what it came with.
   * Of a locked draft, in the open transaction.
   * @throws NeededBeforehand, before anything is written
   */
  async replace(draft: StandingOrderEntity, next: NewDraft, by: Actor): Promise<StandingOrderEntity> {
    const { name, text, rule, heldBecause, details } = next;
    const at = this.clock.now();
    const examined = await this.examination.of(
      {
        ...draft,
        ...columnsOfRule(rule),
        name,
        text,
        version: draft.version + 1,
        simulation: null,
        evalRunId: null,
        updatedAt: at,
      },
      by,
    );
    const version = {
      ...examined.order,
      heldBecause: [heldBecause, examined.heldBecause].filter(Boolean).join(' '),
    };
    this.orders.saveVersion(version, draft, { by, at });
    this.receipts.append(receiptOf(version, 'revised', by, { rule, text, ...examined.details, ...details }));
    return version;
  }

  private add(order: StandingOrderEntity, details: Record<string, unknown> | undefined, by: Actor): void {
    this.orders.add(order);
    this.receipts.append(receiptOf(order, 'created', by, { rule: ruleOf(order), ...details }));
  }

  private orderOf({ name, text, rule, heldBecause }: NewDraft, by: Actor): StandingOrderEntity {
    const { workspaceId } = this.db.unit.scope;
    return newOrder({ workspaceId, name, text, rule }, by, this.clock.now(), heldBecause);
  }
}

/** Makes a draft of an order that a capo proposed and a person, or an order, let pass. It stays a draft. */
@Injectable()
export class ProposeStandingOrder {
  constructor(
    private readonly db: Db,
    private readonly drafts: StandingOrderDrafts,
  ) {}

  /**
   * In the open transaction; `proposed` is a body of `POST /standing-orders`. Answers the id of the order.
   * @throws ValidationFailed for what no person could create either
   */
  async execute(proposed: object, { by, teamId, workPacketId }: Proposal): Promise<Id<'so'>> {
    const content = await this.drafts.read(this.db.unit.scope, teamId, proposed);
    const order = this.drafts.draft({ ...content, heldBecause: PROPOSED, details: { workPacketId } }, by);
    return order.standingOrderId;
  }
}

/**
 * Takes back that a capo proposed a standing order: the draft is archived. One that a person has put into force is theirs by now,
 * and stays.
 */
@Injectable()
export class WithdrawProposal {
  constructor(
    private readonly orders: StandingOrders,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /** What {@link execute} would answer as things stand. */
  async refusal(scope: Scope, standingOrderId: string): Promise<string | null> {
    const order = await this.orders.get(scope, standingOrderId).catch(undefinedWhenGone);
    return order ? refusalOf(order) : null;
  }

  /** In the open transaction. Answers why it stays, or null when it is archived, or was already. */
  async execute(standingOrderId: string, by: Actor): Promise<string | null> {
    const order = await this.orders.lock(standingOrderId).catch(undefinedWhenGone);
    if (!order) return null;
    const refusal = refusalOf(order);
    if (refusal !== null) return refusal;
    const archived = archive(order, this.clock.now());
    if (archived) {
      this.orders.saveStatus(archived);
      this.receipts.append(receiptOf(archived, 'archived', by));
    }
    return null;
  }
}

function refusalOf({ name, status }: StandingOrderEntity): string | null {
  if (status === 'draft' || status === 'archived') return null;
  return `A person has made the standing order "${name}" ${status} since; archive it by hand if it is not wanted.`;
}

function undefinedWhenGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}
