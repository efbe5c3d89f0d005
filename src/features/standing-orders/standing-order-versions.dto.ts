import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import type { CapoRole } from '../terms/index.js';
import type { Effect } from './standing-order.js';
import {
  StandingOrderApproval,
  StandingOrderBudget,
  StandingOrderLimits,
  StandingOrderMatch,
  StandingOrderWhen,
} from './standing-order-rule.dto.js';

export const VERSION_PARAM = {
  name: 'version',
  description: 'The number of the version.',
  example: '1',
};

/** A version of a standing order as lists show it, without its rule. Versions never change. */
export class StandingOrderVersionSummary {
  /** Counts up with every change of the order. @example 1 */
  version!: number;
  /** Whether it is what the order says now. @example true */
  isCurrent!: boolean;
  /** The order's name then. @example 'Delivery mail to Acme' */
  name!: string;
  /**
   * The order in a person's words. Lists show its beginning.
   * @example 'Mail about deliveries may go to Acme on workdays.'
   */
  text!: string;
  /** The capos it was about; null: every capo. @example ['capo_ops'] */
  capos!: CapoRole[] | null;
  /** What it did with a work packet. @example 'allow' */
  effect!: Effect;
  /** How much could go through; null: no limits. */
  limits!: StandingOrderLimits | null;
  /** How much could be spent; null: no budget. */
  budget!: StandingOrderBudget | null;
  /** From when on it is silent, Unix milliseconds; null: never. @example 1798758000000 */
  expiresAt!: number | null;
  /**
   * SHA-256 of the rule, in hex.
   * @example '7369949b47ef2c6ba26fbbee659cedc76123a75c17d321a52d8d1ef35e948042'
   */
  hash!: string;
  /** Who wrote this version. */
  createdBy!: ActorView;
  /** When it was written, Unix milliseconds. @example 1768209600000 */
  createdAt!: number;
}

/** A version of a standing order with its rule. */
export class StandingOrderVersionView extends StandingOrderVersionSummary {
  /** Which work packets it was about. */
  match!: StandingOrderMatch;
  /** When it spoke; null: always. */
  when!: StandingOrderWhen | null;
  /** The terms on which it asked; null: the usual ones. */
  approval!: StandingOrderApproval | null;
}

export class StandingOrderVersionPage extends PageFacts {
  /** The versions of this page, newest first. */
  items!: StandingOrderVersionSummary[];
}
