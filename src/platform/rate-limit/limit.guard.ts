import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Response } from 'express';
import type { AdmittedRequest } from '../http/admitted-request.js';
import { type RouteEntry, RouteTable } from '../http/route-table.js';
import { Clock } from '../kernel/clock.js';
import type { DomainError } from '../kernel/define-error.js';
import { RateLimited } from '../kernel/errors.js';
import { clientAddress } from './client-address.js';
import { forAgents, READS, TIER_LIMITS } from './limits.js';
import { MemoryStorage } from './memory-storage.js';
import { WindowStorage } from './window-storage.js';
import {
  isExceeded,
  limitHeaders,
  remaining,
  retryAfterSeconds,
  tightest,
  type Window,
  type WindowState,
} from './windows.js';

/**
 * What the two limits share: the throttler's guard with its own idea of the windows, of the headers and of the
 * refusal. Headers are set as soon as a window is counted, so that whatever ends the request carries them.
 */
abstract class LimitGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    protected readonly routes: RouteTable,
    protected readonly clock: Clock,
  ) {
    super(options, storage, reflector);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { req, res } = this.getRequestResponse(context) as { req: AdmittedRequest; res: Response };
    const windows = await this.windows(context, req);
    if (windows.length === 0) return true;
    const states = await this.storage(context).hit(windows);
    req.windows = [...(req.windows ?? []), ...states];
    res.set(limitHeaders(tightest(req.windows)!));
    const own = tightest(states)!;
    if (isExceeded(own)) this.refuse(context, req, rateLimited(own, this.clock.now()));
    return true;
  }

  protected storage(_context: ExecutionContext): WindowStorage {
    return this.storageService as WindowStorage;
  }

  /** @throws the refusal, unless the guard has a reason to let the request go on */
  protected refuse(_context: ExecutionContext, _req: AdmittedRequest, refusal: DomainError): void {
    throw refusal;
  }

  protected abstract windows(context: ExecutionContext, req: AdmittedRequest): Promise<Window[]>;
}

/** One address on one route (SPECIFICATION, Limits: "applied per IP per route"); counts before anything else, except on routes that stop. */
@Injectable()
export class RouteLimitGuard extends LimitGuard {
  @Inject(MemoryStorage) private readonly memory!: MemoryStorage;

  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { context: work, method } = context.switchToHttp().getRequest<AdmittedRequest>();
    const { policy } = this.routes.of(context.getHandler());
    const { stops, changesMembership } = policy;
    // What waits for the acts under way, or only lists, must not use up the connections that a kill needs.
    work.urgent = stops === true && !changesMembership && method !== 'GET' && method !== 'HEAD';
    return super.canActivate(context);
  }

  protected override storage(context: ExecutionContext): WindowStorage {
    const { neverRefused } = this.routes.of(context.getHandler()).limit;
    return neverRefused ? this.memory : super.storage(context);
  }

  protected override refuse(context: ExecutionContext, _req: AdmittedRequest, refusal: DomainError): void {
    if (!this.routes.of(context.getHandler()).limit.neverRefused) throw refusal;
  }

  protected override async windows(context: ExecutionContext, req: AdmittedRequest): Promise<Window[]> {
    const { policy, limit } = this.routes.of(context.getHandler());
    const window = routeWindow(limit, clientAddress(req));
    if (!countsOnceAdmitted({ policy, limit })) return [window];
    req.windows = [];
    req.windowOfRefused = window;
    return [];
  }
}

/**
 * The same window of a route that stops, for a caller who may call it: one of their own at each address, so that nobody who may not
 * (docs/decisions/0004) uses up what others behind the same address need.
 */
@Injectable()
export class StopLimitGuard extends LimitGuard {
  protected override async windows(context: ExecutionContext, req: AdmittedRequest): Promise<Window[]> {
    const { policy, limit } = this.routes.of(context.getHandler());
    if (!countsOnceAdmitted({ policy, limit })) return [];
    req.windowOfRefused = undefined;
    const { memberId, agent, tokenRootId } = req.caller!;
    return [routeWindow(limit, `${clientAddress(req)} ${agent ? tokenRootId : memberId}`)];
  }
}

/** SPECIFICATION gives the list of approvals and the decisions on many one number: they share a window for every caller. */
const SHARED = '/api/pro/approvals';

const countsOnceAdmitted = ({ policy: { stops, auth }, limit }: Pick<RouteEntry, 'policy' | 'limit'>) =>
  stops !== undefined && auth === 'member' && limit.bucket !== SHARED;

const routeWindow = ({ limit, windowSeconds, bucket }: RouteEntry['limit'], who: string): Window => ({
  key: `route ${bucket} ${who}`,
  policy: 'route',
  limit,
  windowSeconds,
});

/**
 * The tier's minute and day, per workspace; counts once the caller is known. An agent is refused before they are used up. What only
 * stops work is counted and never refused; where the body decides that, the refusal waits for it.
 */
@Injectable()
export class TierLimitGuard extends LimitGuard {
  protected override async windows(
    context: ExecutionContext,
    { caller }: AdmittedRequest,
  ): Promise<Window[]> {
    if (this.routes.of(context.getHandler()).policy.carries) return [];
    const limits = caller && TIER_LIMITS[caller.tier];
    if (!limits) return [];
    const { workspaceId, agent } = caller;
    const of = (limit: number) => (agent ? forAgents(limit) : { limit });
    return [
      { key: `tier-minute ${workspaceId}`, policy: 'tier-minute', ...of(limits.minute), windowSeconds: 60 },
      { key: `tier-day ${workspaceId}`, policy: 'tier-day', ...of(limits.day), windowSeconds: 86_400 },
    ];
  }

  protected override refuse(context: ExecutionContext, req: AdmittedRequest, refusal: DomainError): void {
    const { stops } = this.routes.of(context.getHandler()).policy;
    if (!stops) throw refusal;
    if (stops !== true) req.refusedUnlessItStops = refusal;
  }
}

/** What a refused request carries, and the other refusal if there were too many of them. */
interface RefusedCount {
  headers: Record<string, string>;
  refusal: DomainError | undefined;
}

/** The limit of requests that are counted once they are refused. */
@Injectable()
export class RefusedLimit {
  constructor(
    private readonly windows: WindowStorage,
    private readonly clock: Clock,
  ) {}

  /** One that reaches no route counts as if it had one of its own, a read, per address (see client-address.ts). */
  countUnrouted(address: string): Promise<RefusedCount> {
    const { limit, windowSeconds } = READS;
    return this.count({ key: `route none ${address}`, policy: 'route', limit, windowSeconds });
  }

  /** Without a counter that answers, nothing is shown and nothing refused. */
  async count(window: Window): Promise<RefusedCount> {
    const [state] = await this.windows.hit([window]).catch(() => []);
    if (!state) return { headers: {}, refusal: undefined };
    const refusal = isExceeded(state) ? rateLimited(state, this.clock.now()) : undefined;
    return { headers: limitHeaders(state), refusal };
  }
}

/** The refusal of CONTRACT section 2: which policy, and when to come back. */
function rateLimited(state: WindowState, now: number) {
  return new RateLimited({
    ...(state.tierLimit && { message: 'Agents have used up their share of the requests of this workspace.' }),
    retryAfterSeconds: retryAfterSeconds(state, now),
    details: {
      policy: state.policy,
      limit: state.limit,
      windowSeconds: state.windowSeconds,
      remaining: remaining(state),
      tierLimit: state.tierLimit,
    },
  });
}
