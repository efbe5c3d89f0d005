import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { createHash } from 'node:crypto';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { assertMayCall } from '../auth/admission.guards.js';
import { type Caller, scopeOf } from '../auth/caller.js';
import {
  assertStanding,
  exclusiveMembership,
  refreshed,
  sharedMembership,
  type Standing,
  standingOf,
} from '../auth/membership.js';
import type { Statement } from '../database/batch.js';
import { computeBeforehand, NeededBeforehand } from '../database/beforehand.js';
import { isCallerChanged, isLockTimeout } from '../database/database-errors.js';
import { Db } from '../database/db.js';
import type { AdmittedCaller, StoredAnswer, UnitOfWork } from '../database/unit-of-work.js';
import type { AdmittedRequest } from '../http/admitted-request.js';
import { namedByIfMatch } from '../http/negotiated.js';
import { renderError } from '../http/render-error.js';
import { type RouteEntry, RouteTable } from '../http/route-table.js';
import type { RoutePolicy } from '../http/route.js';
import { DomainError } from '../kernel/define-error.js';
import {
  IdempotencyInProgress,
  IdempotencyKeyReused,
  InvalidIdempotencyKey,
  Unavailable,
  ValidationFailed,
} from '../kernel/errors.js';
import { SecretBox } from '../secrets/secret-box.js';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

type Stored = Pick<StoredAnswer, 'fingerprint' | 'status' | 'contentType' | 'headers' | 'body'>;

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * How often an act begins anew for a caller who changes while it runs, or for what it needs to be computed beforehand; each
 * time is another change of members, or of what was computed.
 */
const TRIES = 5;

/** Not an outcome of execution, so a corrected request may use the key again (CONTRACT section 3). */
const NOT_STORED = new Set([400, 401, 403, 412, 413, 415, 428, 429]);

/**
 * Opens the transaction that a mutation runs in. With an Idempotency-Key the claim travels with the BEGIN and the
 * answer with the COMMIT, so a crash leaves the effect and its stored answer, or neither.
 */
@Injectable()
export class MutationInterceptor implements NestInterceptor {
  constructor(
    private readonly db: Db,
    private readonly routes: RouteTable,
    private readonly secrets: SecretBox,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const route = this.routes.of(context.getHandler());
    if (!route.transactional) return next.handle();
    const http = context.switchToHttp();
    return from(this.admit(http.getRequest<AdmittedRequest>(), http.getResponse<Response>(), next, route));
  }

  /**
   * The caller was looked up a moment ago; one whose role has changed since acts under the new one, if that may. What takes
   * too long for an open transaction is computed between two tries.
   * @throws Unavailable when it changes again and again
   */
  private async admit(
    request: AdmittedRequest,
    response: Response,
    next: CallHandler,
    route: RouteEntry,
  ): Promise<unknown> {
    let isAsAdmitted = true;
    for (let tried = 0; tried < TRIES; tried++) {
      try {
        return await this.run(request, response, next, route, isAsAdmitted);
      } catch (error) {
        // In what way is found, and said, when the act begins anew.
        if (isCallerChanged(error)) {
          isAsAdmitted = false;
          continue;
        }
        if (error instanceof NeededBeforehand) {
          await computeBeforehand(error);
          continue;
        }
        if (!(error instanceof CallerChanged)) throw error;
        request.caller = error.caller;
        assertMayCall(error.caller, route);
      }
    }
    throw new Unavailable();
  }

  private async run(
    request: AdmittedRequest,
    response: Response,
    next: CallHandler,
    { policy }: RouteEntry,
    isAsAdmitted: boolean,
  ): Promise<unknown> {
    const caller = request.caller!;
    const secret = policy.secretAnswer ?? false;
    const key = policy.anew ? undefined : idempotencyKey(request.headers['idempotency-key']);
    if (key === undefined && isAsAdmitted && !policy.changesMembership && !onlyStops(policy)) {
      return this.db.transaction(scopeOf(caller), (unit) => actAsAdmitted(unit, caller, policy, next));
    }
    const membership = membershipStatements(caller, policy);
    if (key === undefined) {
      return this.db.transaction(
        scopeOf(caller),
        (unit, opened) => {
          assertUnchanged(caller, opened, policy);
          if (onlyStops(policy)) unit.onlyWhile = rightsOf(caller);
          return lastValueFrom(next.handle());
        },
        membership,
      );
    }
    const print = fingerprint(request);
    try {
      return await this.db.transaction(
        scopeOf(caller),
        async (unit, opened) => {
          assertUnchanged(caller, opened, policy);
          if (onlyStops(policy)) unit.onlyWhile = rightsOf(caller);
          const [claimed] = opened;
          const stored = (claimed as Stored[])[0];
          if (stored) {
            if (stored.fingerprint !== print) throw new IdempotencyKeyReused();
            const body = secret ? this.secrets.open(stored.body, purposeOf(caller, key)) : stored.body;
            return replay({ ...stored, body }, request, response);
          }
          return this.executeOnce(unit, { key, print, caller, request, response, policy }, next);
        },
        // The lock comes behind the claim: who waits for a first request with the same key keeps nobody waiting.
        [...claim(caller, key), ...membership],
      );
    } catch (error) {
      if (isLockTimeout(error)) throw new IdempotencyInProgress({ cause: error });
      throw error;
    }
  }

  private async executeOnce(
    unit: UnitOfWork,
    first: {
      key: string;
      print: string;
      caller: Caller;
      request: AdmittedRequest;
      response: Response;
      policy: RoutePolicy;
    },
    next: CallHandler,
  ): Promise<unknown> {
    const { key, print, caller, request, response, policy } = first;
    const keep = (body: string, headers: Record<string, string>): void => {
      unit.answer = {
        memberId: ownerOf(caller),
        key,
        fingerprint: print,
        status: response.statusCode,
        contentType: JSON_TYPE,
        headers,
        body: policy.secretAnswer ? this.secrets.seal(body, purposeOf(caller, key)) : body,
      };
      response.setHeader('Content-Type', JSON_TYPE);
    };
    try {
      const answer = await lastValueFrom<object>(next.handle());
      const location = response.getHeader('Location');
      const kept = policy.kept ? policy.kept(answer) : answer;
      keep(JSON.stringify(kept), typeof location === 'string' ? { Location: location } : {});
      return JSON.stringify(answer);
    } catch (error) {
      if (!(error instanceof DomainError) || !isOutcome(error)) throw error;
      await unit.undoWork();
      response.status(error.status).set(error.headers);
      const body = JSON.stringify(renderError(error, request.requestId, request.askedVersion));
      keep(body, error.headers);
      return body;
    }
  }
}

/**
 * The key of a request; undefined without the header. `"k"` and `k` are the same key.
 * @throws InvalidIdempotencyKey
 */
function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = typeof header === 'string' ? header : '';
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (!VISIBLE_ASCII.test(key)) throw new InvalidIdempotencyKey();
  return key;
}

/**
 * SHA-256 over what makes a request the same request: method, path, query, version, the content that If-Match names, and the
 * body's bytes.
 */
function fingerprint(request: AdmittedRequest): string {
  const named = namedByIfMatch(request.headers['if-match']);
  const read = named === null ? '' : ` if-match ${named}`;
  return createHash('sha256')
    .update(`${request.method}\n${request.originalUrl}\n${request.askedVersion ?? ''}${read}\n`)
    .update(request.rawBody ?? '')
    .digest('hex');
}

/** The caller was looked up a moment ago and mostly stands as then, so that is asked with what the act does first. */
async function actAsAdmitted(
  unit: UnitOfWork,
  caller: Caller,
  policy: RoutePolicy,
  next: CallHandler,
): Promise<unknown> {
  unit.lead([sharedMembership(caller.workspaceId), assertStanding(caller, policy)]);
  try {
    return await lastValueFrom(next.handle());
  } catch (error) {
    // What the act is refused for is for those who may act.
    await unit.askFirst();
    throw error;
  }
}

/** Under the lock the caller is another than the one who was admitted. */
class CallerChanged extends Error {
  constructor(readonly caller: Caller) {
    super('the role of the caller has changed');
  }
}

/** What keeps members and teams as they are while the act runs, and how the caller stands under it; the last is told. */
function membershipStatements(caller: Caller, policy: RoutePolicy): Statement[] {
  const { workspaceId } = caller;
  if (policy.changesMembership) return [exclusiveMembership(workspaceId), standingOf(caller)];
  return onlyStops(policy) ? [standingOf(caller)] : [sharedMembership(workspaceId), standingOf(caller)];
}

/** It waits for no change of members, so at its end it is looked whether there was one (app.finish). */
function onlyStops({ stops, changesMembership }: RoutePolicy): boolean {
  return stops === true && changesMembership !== true;
}

function rightsOf({ memberId, role, teamRoles }: Caller): AdmittedCaller {
  return { memberId, role, teamRoles };
}

function assertUnchanged(caller: Caller, opened: unknown[][], policy: RoutePolicy): void {
  const now = refreshed(caller, (opened.at(-1) as Standing[])[0], policy);
  if (now !== caller) throw new CallerChanged(now);
}

/** A sealed answer opens only for the one who asked, under the key that was asked with. */
function purposeOf(caller: Caller, key: string): string {
  return `answer ${caller.workspaceId} ${ownerOf(caller)} ${key}`;
}

/** Whose keys these are: those of an agent are neither its member's nor those of the member's other agents. */
function ownerOf({ memberId, agent, tokenRootId }: Caller): string {
  return agent ? tokenRootId! : memberId;
}

function isOutcome(error: DomainError): boolean {
  const { code, status, retryAfterSeconds } = error.definition;
  return (
    status < 500 &&
    !NOT_STORED.has(status) &&
    code !== ValidationFailed.code &&
    retryAfterSeconds === undefined
  );
}

/** The claim waits up to ten seconds for a first request that is still running; see app.claim_key. */
function claim(caller: Caller, key: string): Statement[] {
  return [
    {
      text: 'select fingerprint, status, content_type, headers, body from app.claim_key($1, $2, $3)',
      values: [caller.workspaceId, ownerOf(caller), key],
    },
    { text: 'savepoint work' },
  ];
}

function replay(stored: Stored, { requestId }: AdmittedRequest, response: Response): string {
  response.status(stored.status).set(stored.headers);
  response.setHeader('Content-Type', stored.contentType);
  response.setHeader('Idempotent-Replayed', 'true');
  // An error names its request, in either shape; this is another one.
  return stored.status < 400 ? stored.body : JSON.stringify({ ...JSON.parse(stored.body), requestId });
}
