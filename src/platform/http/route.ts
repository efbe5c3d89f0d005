import { applyDecorators, HttpCode, SetMetadata, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, type ApiResponseOptions, getSchemaPath } from '@nestjs/swagger';
import type { Role } from '../auth/caller.js';
import type { TokenScope } from '../auth/token-scopes.js';
import type { ErrorDefinition } from '../kernel/define-error.js';
import type { RouteLimit } from '../rate-limit/limits.js';

/** The forms of an answer by content type: a DTO, or for text an example of it. */
type Representations = Readonly<Record<string, Type | string>>;

/** Everything a handler says about itself, once. */
export interface RoutePolicy {
  /**
   * `member`: an active member; below /api/admin by the cookie of a session, elsewhere by an operator token. `signature`: the body is signed with a secret that its sender shares with a workspace
   * (SignedRequests). `public`: anyone; said, never guessed.
   */
  auth: 'member' | 'signature' | 'public';
  /** The least role that may call; `viewer` unless said. */
  role?: Role;
  /**
   * The role in any team will do to be admitted: the use case asks for the role in the team of the row. Without it the
   * role in the workspace decides.
   */
  teamRole?: boolean;
  /**
   * What a limited token needs to call it. Unless said, `read` to read, `admin` to change what only an admin or owner may
   * change, `operate` for any other change. Reading is open to `read` too, whatever is said.
   */
  scope?: TokenScope;
  /** Unless said, 60 reads or 30 mutations per minute. */
  limit?: RouteLimit;
  /**
   * The route only stops work, always or with such a body, or shows what a stop has to name: the tier's windows count it
   * and never refuse it (docs/decisions/0004).
   */
  stops?: true | ((body: Record<string, unknown>) => boolean);
  /**
   * A mutation runs in one transaction with its receipts, enqueued work and stored answer, and honours Idempotency-Key. A
   * handler that must not hold a transaction open says `false`.
   */
  transaction?: boolean;
  /**
   * The mutation changes who may act in the workspace: it waits for the acts under way, and those that come wait for it
   * (platform/auth/membership.ts).
   */
  changesMembership?: boolean;
  /**
   * The request carries calls of other routes, each admitted by its own rules: any token may send it, and the tier counts what it
   * carries instead of it.
   */
  carries?: boolean;
  /** A replica may answer its reads: it shows what is past, or what nobody acts on at once (docs/scaling.md). */
  replica?: boolean;
  /** Opens to a session that must set up a second factor first. */
  beforeSecondFactor?: boolean;
  /** Opens to a token that is paused. */
  evenPaused?: boolean;
  /** The body is that of an HTML form. */
  form?: boolean;
  /**
   * Done anew at each call: the mutation is the same however often it is called, and an answer from a time before must not be
   * taken for what is so now. An Idempotency-Key is not looked at.
   */
  anew?: boolean;
  /** The answer holds something that is shown once, so what is kept of it for a replay is sealed. */
  secretAnswer?: boolean;
  /** What is kept of the answer for a replay, where that is not all of it: a permit is given once. */
  kept?: (answer: object) => object;
  /** Success statuses and their bodies; the first is the default status. A class is answered as JSON. */
  returns: Record<number, Type | Representations>;
  /** Errors beyond those that admission can raise on any route. */
  errors?: ErrorDefinition[];
}

/** Operators may call it, for rows of the teams that they are operators of. */
export const ACTS = { auth: 'member', role: 'operator', teamRole: true } as const;
/** An agent from outside may call it, for its own requests. */
export const ASKS = { ...ACTS, scope: 'request' } as const;
/** A token that only decides may call it. */
export const DECIDES = { ...ACTS, scope: 'decide' } as const;

export const ROUTE = Symbol('route');

const SUCCESS: Record<string, string> = { 200: 'Done.', 201: 'Created.', 202: 'Accepted.' };

/** The one declaration of a handler. A handler without it keeps the application from starting. */
export function Route(policy: RoutePolicy): MethodDecorator {
  const statuses = Object.entries(policy.returns);
  return applyDecorators(
    SetMetadata(ROUTE, policy),
    HttpCode(Number(statuses[0]![0])),
    ...statuses.map(([status, body]) => answerOf(status, body)),
  );
}

function answerOf(status: string, body: Type | Representations): MethodDecorator {
  const options = { status: Number(status), description: SUCCESS[status] ?? 'Success.' };
  if (typeof body === 'function') return ApiResponse({ ...options, type: body });
  const content: NonNullable<Extract<ApiResponseOptions, { content?: unknown }>['content']> = {};
  const classes: Type[] = [];
  for (const [type, form] of Object.entries(body)) {
    if (typeof form === 'string') {
      content[type] = { schema: { type: 'string' }, example: form };
    } else {
      content[type] = { schema: { $ref: getSchemaPath(form) } };
      classes.push(form);
    }
  }
  return applyDecorators(ApiExtraModels(...classes), ApiResponse({ ...options, content }));
}
