export { GuardianView } from './guardian.dto.js';
export { GuardianEntity, type StepStatus } from './guardian.entity.js';
export { PolicyDenied, GUARDIAN, KILLED_TOPIC, isHalted, letsNothingLeave } from './guardian.js';
export { GuardianModule } from './guardian.module.js';
export { CheckpointService } from './checkpoint.service.js';
export { GuardianService } from './guardian.service.js';
export { CLOCKS_STOPPED_AT, Guardians } from './guardians.repository.js';
export {
  type GuardianAct,
  type Haltable,
  HaltableWork,
  type Halted,
  type HaltedCounts,
  type HeldBack,
  type ResumedPacket,
  type Unconfirmed,
} from './halting.js';
export { newRevert, type Obstacle, type PlanLine, type Undoable, UndoableWork } from './revert.js';
export { type PolicyDecision, decisionsInReceipt } from './policy-decision.js';
export { type AllowedBy, PolicyGate, PolicyPreview, type Recheck } from './policy-gate.js';
export type { LockedFacts, Moment } from './policy-facts.js';
export { COMPENSATE, RevertProgress } from './revert-progress.js';
export { RevertAnswer } from './revert.dto.js';
export { type OpenStep, Reverts } from './reverts.repository.js';
