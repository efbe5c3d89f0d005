import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Window, WindowState } from './windows.js';

type Record = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** A throttler storage that counts several fixed windows in one step. */
export abstract class WindowStorage implements ThrottlerStorage {
  /** Counts one request in each window that is not used up, and answers where each stands; one beyond the limit is over it. */
  abstract hit(windows: readonly Window[]): Promise<WindowState[]>;

  /** Before the first request. */
  async start(): Promise<void> {}

  /** Each second while the process runs; what fails is tried again a second later. */
  async everySecond(): Promise<void> {}

  /** When the process ends in good order. */
  async end(): Promise<void> {}

  /** The throttler's own call, in its own terms: a window is over at its end, and nothing blocks beyond it. */
  async increment(key: string, ttl: number, limit: number): Promise<Record> {
    const [state] = await this.hit([{ key, policy: 'route', limit, windowSeconds: Math.ceil(ttl / 1000) }]);
    const seconds = Math.max(1, Math.ceil((state!.resetAt - Date.now()) / 1000));
    return {
      totalHits: state!.hits,
      timeToExpire: seconds,
      isBlocked: state!.hits > limit,
      timeToBlockExpire: state!.hits > limit ? seconds : 0,
    };
  }
}
