import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { CallerGuard, InputGuard, RoleGuard, SignatureGuard, VersionGuard } from './auth/admission.guards.js';
import { Callers } from './auth/callers.js';
import { Passwords } from './auth/passwords.js';
import { SignedRequests } from './auth/signed-requests.js';
import { BrokenRequests } from './http/broken-requests.js';
import { ErrorFilter } from './http/error.filter.js';
import { ReplicaInterceptor } from './http/replica.interceptor.js';
import { RouteTable } from './http/route-table.js';
import { validationPipe } from './http/validation.js';
import { KeyExpiry } from './idempotency/key-expiry.js';
import { MutationInterceptor } from './idempotency/mutation.interceptor.js';
import { RateLimitModule } from './rate-limit/rate-limit.module.js';
import { RefusedLimit, RouteLimitGuard, StopLimitGuard, TierLimitGuard } from './rate-limit/limit.guard.js';

/** The way of a request, in its order: each step is one provider. */
@Module({
  imports: [DiscoveryModule, RateLimitModule],
  providers: [
    RouteTable,
    Callers,
    Passwords,
    SignedRequests,
    KeyExpiry,
    RefusedLimit,
    BrokenRequests,
    { provide: APP_GUARD, useClass: RouteLimitGuard },
    { provide: APP_GUARD, useClass: VersionGuard },
    { provide: APP_GUARD, useClass: CallerGuard },
    { provide: APP_GUARD, useClass: SignatureGuard },
    { provide: APP_GUARD, useClass: TierLimitGuard },
    { provide: APP_GUARD, useClass: RoleGuard },
    { provide: APP_GUARD, useClass: StopLimitGuard },
    { provide: APP_GUARD, useClass: InputGuard },
    { provide: APP_INTERCEPTOR, useClass: ReplicaInterceptor },
    { provide: APP_INTERCEPTOR, useClass: MutationInterceptor },
    { provide: APP_PIPE, useFactory: validationPipe },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
  exports: [RouteTable, Callers, Passwords, SignedRequests, RateLimitModule],
})
export class AdmissionModule {}
