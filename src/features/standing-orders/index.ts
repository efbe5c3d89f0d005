export { ActionReversibility, OrderTools } from './order-tools.js';
export { ActivationChecks, type ActivationFinding } from './activation-examination.js';
export { StandingOrderService, type ArchivedOrders, THROTTLED } from './standing-orders.service.js';
export {
  type DecidedPacket,
  type DecisionOrder,
  type OrderUsage,
  type RecordedInput,
  isLimited,
  recorded,
} from './decision-input.js';
export { canonicalDomain, domainsIn } from './match.js';
export {
  StandingOrderDrafts,
  type NewDraft,
  ProposeStandingOrder,
  WithdrawProposal,
} from './draft-standing-order.js';
export {
  type Decision,
  type Electorate,
  type NamedApprovers,
  evaluateAgain,
  isDeniedByBudget,
  isNamed,
  mayConcern,
  strictestElectorate,
} from './evaluate.js';
export { type LimitResult, SLIDING_HOURS, isNearlySpent } from './limits.js';
export { columnsOfRule, decisionOrderOf } from './order-content.js';
export { ordersFor } from './orders-for.js';
export { type KnownOrders, OrdersInForce } from './orders-in-force.repository.js';
export { PolicyDecisions } from './policy-decisions.repository.js';
export { RestoreObjections, RestoreOrders } from './restore-orders.js';
export { isWithin } from './looseness.js';
export { ruleFaults } from './rule-faults.js';
export { History } from './simulation/history.reader.js';
export { ReplayHistory } from './simulation/order-simulation.js';
export type { Simulated } from './simulation/replay.js';
export { replayedFor, SimulatedChangeView, SimulationNumbers } from './simulation/simulation.dto.js';
export { StandingOrderLimits, StandingOrderMatch } from './standing-order-rule.dto.js';
export type { ZoneLookUps } from './standing-order-rules.js';
export {
  type GivenBack,
  StandingOrderUses,
  decisionTimeStatement,
  lockDecisionsStatement,
} from './standing-order-uses.repository.js';
export { newViewOf } from './standing-order-view.js';
export { StandingOrderEntity } from './standing-order.entity.js';
export {
  type BudgetWindow,
  type Effect,
  type FieldCondition,
  type OrderLimits,
  type StandingOrderRule,
  WEEKDAYS,
  type Weekday,
  strictest,
  strictness,
  tightens,
} from './standing-order.js';
export { NewStandingOrderView, StandingOrderSummary } from './standing-orders.dto.js';
export { StandingOrdersModule } from './standing-orders.module.js';
export { StandingOrders } from './standing-orders.repository.js';
export { SurroundingsOfOrder } from './surroundings-of-order.reader.js';
export { type FormerUse, type UsageOfOrder, Usages, useOf } from './uses-of-order.js';
export { appliesAt } from './when.js';
export { startOfWindow } from './windows.js';
