import type { z } from 'zod';

/** What a feature says once about an error: CONTRACT section 2. */
export interface ErrorDefinition {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  /**
   * "Try again": whole seconds after which that makes sense, unless the occurrence knows better. Such an answer is no
   * outcome, so it is never stored under an Idempotency-Key.
   */
  readonly retryAfterSeconds?: number;
  /** The form of its details: of an optional one, some occurrences have none. Without it, none has. */
  readonly details?: z.ZodType;
}

/** So many details are listed at most; of what else there is only the number is told. */
export const MAX_DETAILS = 100;

/** Details may be written from lists that are read only. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Given<T[Key]> }
    : T;

/** One fault of a request; a validation error lists every fault at once. */
export interface Fault {
  /** Where in the body, query or path: `params.to[0]`. */
  path: string;
  /** The rule that does not hold, in the validator's word: `isEmail`. */
  rule: string;
  /** What is wrong, for a person. */
  message: string;
}

export interface ErrorOccurrence<Details = unknown> {
  /** Replaces the definition's message where the occurrence can say more. */
  message?: string;
  /** Narrower than the code: `expired_token`. Defaults to the code in lower case. */
  reason?: string;
  /** A list is cut after {@link MAX_DETAILS}. */
  details?: Details;
  /** How many details were left out already; those that are cut are added. */
  detailsOmitted?: number;
  /** Whole seconds after which another try makes sense; sent as `Retry-After`. */
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** Any error that a client may see. One filter renders it in both documented shapes. */
export class DomainError extends Error {
  readonly #definition: ErrorDefinition;
  readonly reason: string;
  readonly details: unknown;
  readonly detailsOmitted: number;
  readonly headers: Record<string, string>;

  constructor(definition: ErrorDefinition, occurrence: ErrorOccurrence = {}) {
    super(occurrence.message ?? definition.message, { cause: occurrence.cause });
    this.#definition = definition;
    this.name = definition.code;
    this.reason = occurrence.reason ?? definition.code.toLowerCase();
    const { details } = occurrence;
    this.details = Array.isArray(details) ? details.slice(0, MAX_DETAILS) : details;
    const cut = Array.isArray(details) ? Math.max(0, details.length - MAX_DETAILS) : 0;
    this.detailsOmitted = (occurrence.detailsOmitted ?? 0) + cut;
    this.headers = { ...occurrence.headers };
    const retryAfterSeconds = occurrence.retryAfterSeconds ?? definition.retryAfterSeconds;
    if (retryAfterSeconds !== undefined) {
      this.headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
    }
  }

  /** No field: to the logger it would look like an error in the error, which it marks, and this one is frozen. */
  get definition(): ErrorDefinition {
    return this.#definition;
  }

  get status(): number {
    return this.#definition.status;
  }
}

/** An error's definition, callable: `throw new ApprovalExpired()`. */
export interface ErrorType<Details> extends ErrorDefinition {
  new (
    ...given: undefined extends Details
      ? [occurrence?: ErrorOccurrence<Given<Details>>]
      : [occurrence: ErrorOccurrence & { details: Given<Details> }]
  ): DomainError;
}

const definitions = new Map<string, ErrorDefinition>();

/**
 * Defines an error once. The code is unique in the program; `docs/reference/errors.md` and the OpenAPI document
 * are generated from all definitions.
 */
export function defineError<Details = undefined>(
  code: string,
  status: number,
  message: string,
  more: { retryAfterSeconds?: number; details?: z.ZodType<Details> } = {},
): ErrorType<Details> {
  if (definitions.has(code)) throw new Error(`the error ${code} is defined twice`);
  const definition: ErrorDefinition = Object.freeze({ code, status, message, ...more });
  definitions.set(code, definition);
  return Object.assign(
    class extends DomainError {
      constructor(occurrence?: ErrorOccurrence) {
        super(definition, occurrence);
      }
    },
    definition,
  );
}

/** All definitions, by status and code. */
export function definedErrors(): ErrorDefinition[] {
  return [...definitions.values()].toSorted((a, b) => a.status - b.status || a.code.localeCompare(b.code));
}
