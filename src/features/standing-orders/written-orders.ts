import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { validationPipe } from '../../platform/http/validation.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { OrderContent } from './order-content.js';
import { StandingOrderRules, type ZoneLookUps } from './standing-order-rules.js';
import { CreateStandingOrderBody } from './standing-orders.dto.js';

/** Reads orders that no request brought: what a capo proposed, or what a skill pack contains. */
@Injectable()
export class WrittenOrders {
  readonly #validation = validationPipe();

  constructor(private readonly rules: StandingOrderRules) {}

  /**
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
}
