export { actionContentHash, paramsHashOf } from './action-hashes.js';
export {
  APPROVAL_LASTS_MS,
  CAPO_ROLES,
  type CapoRole,
  type Cost,
  COST_CURRENCY,
  DIRECTIVE_STATUSES,
  type DirectiveStatus,
  GuardianHalted,
  type GuardianMode,
  haltedIn,
  NO_COST,
  PRIORITIES,
  type Priority,
  REVERSIBILITIES,
  type Reversibility,
  type Risk,
  RISKS,
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
