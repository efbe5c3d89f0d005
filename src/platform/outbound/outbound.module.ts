import { Global, Module } from '@nestjs/common';
import { GuardedRequest } from './guarded-request.js';
import { NameResolver } from './name-resolver.js';
import { OwnAddresses } from './own-addresses.js';

/** The way out to addresses that others chose. */
@Global()
@Module({ providers: [GuardedRequest, NameResolver, OwnAddresses], exports: [GuardedRequest] })
export class OutboundModule {}
