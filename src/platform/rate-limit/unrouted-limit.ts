import { Injectable } from '@nestjs/common';
import type { DomainError } from '../kernel/define-error.js';
import { Clock } from '../kernel/clock.js';
import { rateLimited } from './limit.guard.js';
import { READS } from './limits.js';
import { isExceeded, limitHeaders } from './windows.js';
import { WindowStorage } from './window-storage.js';

/** What an answer to a request without a route carries, and the refusal if there were too many of them. */
export interface UnroutedCount {
  headers: Record<string, string>;
  refusal: DomainError | undefined;
}

/** The limit of requests that reach no route: they count as if they had one of their own, a read, per address. */
@Injectable()
export class UnroutedLimit {
  constructor(
    private readonly windows: WindowStorage,
    private readonly clock: Clock,
  ) {}

  /** Counts one request of this address (see client-address.ts); without a counter that answers, nothing is shown and nothing refused. */
  async count(address: string): Promise<UnroutedCount> {
    const { limit, windowSeconds } = READS;
    const key = `route none ${address}`;
    const [state] = await this.windows.hit([{ key, policy: 'route', limit, windowSeconds }]).catch(() => []);
    if (!state) return { headers: {}, refusal: undefined };
    const refusal = isExceeded(state) ? rateLimited(state, this.clock.now()) : undefined;
    return { headers: limitHeaders(state), refusal };
  }
}
