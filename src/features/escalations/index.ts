export {
  ACTION_UNCONFIRMED,
  APPROVAL_EXPIRED,
  APPROVAL_EXPIRING,
  APPROVERS_MISSING,
  APPROVE_ONCE,
  ARRIVED,
  BUDGET_EXCEEDED,
  CHECK,
  COMPENSATION_FAILED,
  CONNECTOR_RED,
  DID_NOT_ARRIVE,
  DISMISS,
  DONE_BY_HAND,
  EXTEND,
  type EscalationKind,
  HAND_IN_AGAIN,
  KILL_UNCONFIRMED,
  PACKET_FAILED,
  REJECT,
  RESUME,
  RETRY,
  SCHEDULE_PAUSED,
  SEND_AGAIN,
  EscalationEntity,
} from './escalation.entity.js';
export { EscalationOpened, Escalations, MOST_URGENT_ESCALATIONS } from './escalations.repository.js';
export {
  type Decider,
  type EscalationChoice,
  type EscalationOption,
  EscalationOptions,
} from './escalations.service.js';
export { EscalationsModule } from './escalations.module.js';
