export { actionContentHash, paramsHashOf } from './action-hashes.js';
export { GuardianHalted, haltedIn } from './guardian-halted.js';
export {
  CAPO_ROLES,
  COST_CURRENCY,
  type CapoRole,
  type Cost,
  APPROVAL_LASTS_MS,
  DIRECTIVE_STATUSES,
  type DirectiveStatus,
  type GuardianMode,
  NO_COST,
  PRIORITIES,
  type Priority,
  REVERSIBILITIES,
  RISKS,
  type Reversibility,
  type Risk,
  TELL_MEMBERS,
} from './terms.js';
export {
  TOOL_NAME,
  assertTokenNames,
  isReservedToolName,
  isToolName,
  isToolPattern,
  namesAction,
} from './tool-names.js';
