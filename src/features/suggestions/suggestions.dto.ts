import type { Id } from '../../platform/kernel/ids.js';
import type { CapoRole } from '../terms/index.js';
import {
  type Effect,
  SimulatedChangeView,
  SimulationNumbers,
  StandingOrderLimits,
  StandingOrderMatch,
} from '../standing-orders/index.js';
import type { SuggestionDecision } from './suggestion-decision.entity.js';

/** The parameter of the paths, as it is documented. */
export const SUGGESTION_PARAM = {
  name: 'suggestionId',
  description: 'The id of the suggestion.',
  example: 'sug_5x1v3t7r9p2n4m6k8j0h1g3f5d',
};

/** The order that a suggestion would become. */
export class SuggestedOrder {
  /** One line, by which decisions would name it. @example 'Ops: email.send to acme.example' */
  name!: string;
  /**
   * What it would say, and what it is made from.
   * @example 'Ops: email.send to acme.example: at most 3 a day, as in the last 30 days, when 7 of these were approved without a change.'
   */
  text!: string;
  /** The team whose work packets it would be about; null: the whole workspace. */
  teamId!: Id<'team'> | null;
  /**
   * The capo that it would be about; null for one about what an agent from outside asks for, whom `match.agents` names.
   * @example ['capo_ops']
   */
  capos!: CapoRole[] | null;
  /** Always `allow`. @example 'allow' */
  effect!: Effect;
  /** Which work packets or action requests it would be about: those that have the approved ones in common. */
  match!: StandingOrderMatch;
  /** How much would go through: as much as was approved on one day, to as many people. */
  limits!: StandingOrderLimits;
}

/** What the suggested order would have done to the decisions of the past. */
export class SuggestionSimulation extends SimulationNumbers {
  /** The work packets and action requests that would have been decided otherwise and that the caller may see, at most 100: what cannot be taken back first, newest first. */
  changes!: SimulatedChangeView[];
  /** How many more of them there are that are not named. @example 0 */
  changesOmitted!: number;
}

/** An order that people would not have to decide about each time any more. Nothing becomes active by itself. */
export class SuggestionView {
  /** The id of the suggestion; that of the same suggestion is the same each time. @example 'sug_5x1v3t7r9p2n4m6k8j0h1g3f5d' */
  suggestionId!: Id<'sug'>;
  /** The order that accepting it makes, as a draft. */
  order!: SuggestedOrder;
  /** How many approvals it is made from, each given without an edit, none of them before the last rejection. @example 7 */
  approvals!: number;
  /** When the last of them was given, Unix milliseconds. @example 1768209600000 */
  lastApprovedAt!: number;
  /** The simulation of the order; at most five minutes old. */
  simulation!: SuggestionSimulation;
}

export class SuggestionList {
  /** The suggestions for the work packets that the caller may see, at most 10; those with the most approvals first. */
  items!: SuggestionView[];
}

export class SuggestionDecided {
  /** The id of the suggestion. @example 'sug_5x1v3t7r9p2n4m6k8j0h1g3f5d' */
  suggestionId!: string;
  /** `dismissed`: it is not made again. @example 'dismissed' */
  decision!: SuggestionDecision;
}
