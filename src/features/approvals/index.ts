export {
  ApprovalAction,
  ApprovalNeededInput,
  ApprovalOutput,
  type ApprovalRevision,
  ApprovalWorkPacket,
  type RevisionChange,
} from './approval-content.dto.js';
export { ApprovalDecided, RejectBody, EditBody, PacketEditBody } from './approval-decisions.dto.js';
export {
  type ApprovalSubject,
  ApprovalSubjects,
  type ChangesRequested,
  type Edit,
  type EditSituation,
  type Edited,
} from './approval-subjects.js';
export {
  ApprovalEntity,
  type ApprovalPacket,
  type ApprovalPolicy,
  type Author,
  type OfDirective,
  type UnrevisedApproval,
} from './approval.entity.js';
export {
  approvedHash,
  approverNames,
  assertApprover,
  concernsAfterEdit,
  isAmongWhoAsked,
  isUrgent,
  packetsOf,
  viewOf,
  votesInWords,
} from './approval.js';
export {
  ApprovalApprovers,
  ApprovalQuestion,
  ApprovalReason,
  DecisionWaitQuery,
  ShownApproval,
  VoteCount,
} from './approvals.dto.js';
export {
  ApprovalAlreadyDecided,
  ApprovalExpired,
  ApprovalNotReady,
  InputRequired,
} from './approvals.errors.js';
export { ApprovalsModule } from './approvals.module.js';
export { Approvals, type EditedContent, type ReadyContent } from './approvals.repository.js';
export { AwaitChange } from './waiting.js';
export { CurrentApprovals, type WaitingApproval } from './current-approvals.repository.js';
export { DecideApproval } from './decide-approval.js';
export { EditApproval } from './edit-approval.js';
export { HoldupsReader } from './approval-background.reader.js';
export { firstPending, partsOfPending, soonAfter } from './pending-approvals.js';
export { type Answer, type AnswerField, choicesOf } from './question.js';
export { ReadyApprovals, RequestApproval, type TellOfApproval } from './request-approval.js';
