export { LIMITS } from './action-params.js';
export {
  ACTION_TYPES,
  ACTION_TYPE_NAMES,
  type Action,
  type ActionResult,
  type ActionType,
  type ActionTypeName,
  type Compensation,
  type PacketKind,
  type ParamsOf,
  type ValidAction,
  type Validation,
  actionTypesOf,
  compensationOf,
  highestReversibility,
  isActionType,
  isOptionalParameter,
  leverageOf,
  parametersOf,
  riskOf,
  validateAction,
  valueAt,
} from './action-types.js';
export {
  type BriefedDirective,
  BriefingReader,
  CapoSkills,
  draftingFrom,
  type DraftingState,
  DraftingStates,
  OutsideTargetsReader,
} from './briefing.reader.js';
export {
  type Briefing,
  type CapoRunner,
  type Concern,
  type Draft,
  type DraftPacket,
  type FeedbackRound,
  type NeededInput,
  RunnerFailed,
  type StandingOrderBrief,
} from './briefing.js';
export { BUILTIN_PROCESSES, BuiltinRunner } from './builtin-runner.js';
export { beginsAsInstruction, movesIn } from './builtin/draft.js';
export {
  CAPO_ROLES,
  capoActor,
  capoCalled,
  type CapoRole,
  CAPOS,
  type Engine,
  engineOf,
  isCapoRole,
} from './capo.js';
export { CAPO_RUNNER, CaposModule, MODEL } from './capos.module.js';
export { dangersOfPackets, unseenFaults, withDangers, withReplyTo } from './content-checks.js';
export { DRAFT_BOUNDS } from './draft-bounds.js';
export {
  type Evidence,
  type FactKind,
  type PacketFact,
  evidenceIn,
  factsOf,
  holds,
  openPlace,
  stringsIn,
} from './draft-checks.js';
export { bodyOf, documentFrom, isBodyCut, summaryOf, titleOf } from './draft-output.js';
export { Drafting } from './drafting.dto.js';
export { isPaid, ModelBudget, type Paid, paidBefore } from './model-budget.js';
export { ModelClient, type Question, type Reading } from './model-client.js';
export { quotable } from './model-failure.js';
export { faultsOfAnswer, line, object } from './model-output.js';
export { boundedContext, delimited } from './model-runner.js';
export { baseUrlOf } from './model-provider.js';
export { moneyIn } from './money.js';
export {
  HTTP_UNDO,
  OURS,
  OUTSIDE_TYPES,
  type OutsideTargets,
  destinationIn,
  withoutAddress,
  withoutOurs,
} from './outside-targets.js';
export { PausedCapos } from './model-budgets.repository.js';
export { orderBodyOf } from './proposed-order.js';
export { type Amount, addressesIn, amountsIn, isSameAmount, numbersIn } from './text-facts.js';
export { WORD_WEIGHT, type Word, domainWords, wordsOf } from './vocabulary.js';
