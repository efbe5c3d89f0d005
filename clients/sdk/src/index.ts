export { Consigliere, type WaitForDirectiveOptions, type WaitOptions } from './client.js';
export { type Answer, Call, type CallOptions } from './call.js';
export type { ClientOptions, LogEntry, Logger, Request } from './http.js';
export { API_VERSION } from './http.js';
// By name: some types of error bodies have the same names, and give way.
export {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  ConsigliereError,
  ContentChangedError,
  GoneError,
  HaltedError,
  NotAnAgentToken,
  NotFoundError,
  OutcomeUnknown,
  PermissionDeniedError,
  PreconditionRequiredError,
  RateLimitError,
  ServiceError,
  TimeoutError,
  UnprocessableError,
  UnreadableAnswer,
} from './errors.js';
export {
  type Act,
  type AskOptions,
  type Done,
  type ActionMethods,
  type Permitted,
  type Refused,
} from './actions.js';
export type { FeedEvent, StreamOptions } from './feed.js';
export * as permits from './permits.js';
export * as webhooks from './webhooks.js';
export type { ErrorBody, ErrorCode } from './generated/operations.js';
export type * from './generated/types.js';
