import { Injectable } from '@nestjs/common';
import type { DomainError } from '../kernel/define-error.js';
import { Clock } from '../kernel/clock.js';
import { rateLimited } from './limit.guard.js';
import { READS } from './limits.js';
import { isExceeded, limitHeaders, type Window } from './windows.js';
import { WindowStorage } from './window-storage.js';

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
