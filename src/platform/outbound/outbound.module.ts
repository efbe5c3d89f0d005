import { Global, Module } from '@nestjs/common';
import { GuardedRequest, OwnAddresses } from './guarded-request.js';
import { NameResolver } from './name-resolver.js';

/** The way out to addresses that others chose. */
@Global()
@Module({ providers: [GuardedRequest, NameResolver, OwnAddresses], exports: [GuardedRequest] })
export class OutboundModule {}
