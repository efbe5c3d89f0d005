import { Injectable } from '@nestjs/common';
import { Channel } from '../../platform/database/channel.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Readiness } from '../../platform/observability/health.controller.js';

/** A message may be lost with its connection, so the waiting request also reads the row itself. */
const LOOK_EVERY_MS = 1_000;

/** What is waited for: a message about this row, for so long. */
interface Waited {
  topic: string;
  id: string;
  waitSeconds: number;
}

/** Reads a row again and again until it is as somebody waits for it. No connection is held while it waits. */
@Injectable()
export class AwaitChange {
  constructor(
    private readonly clock: Clock,
    private readonly channel: Channel,
    private readonly readiness: Readiness,
  ) {}

  /**
   * Answers the row as it is when `isThere` says so, or the time is over, or the process is about to end.
   * @throws NotFound
   */
  async until<T>(
    { topic, id, waitSeconds }: Waited,
    find: () => Promise<T | undefined>,
    isThere: (row: T) => boolean,
  ): Promise<T> {
    const until = this.clock.now() + waitSeconds * 1_000;
    for (;;) {
      // It listens before it looks, so that what happens between the two is not missed.
      const change = this.nextChange(topic, id, until);
      try {
        const row = await find();
        if (row === undefined) throw new NotFound();
        if (isThere(row) || this.clock.now() >= until || this.readiness.closing.aborted) return row;
        await change.wait;
      } finally {
        change.stop();
      }
    }
  }

  private nextChange(topic: string, id: string, until: number): { wait: Promise<void>; stop: () => void } {
    let stop = () => undefined as void;
    const wait = new Promise<void>((resolve) => {
      const off = this.channel.subscribe(topic, (message) => message.id === id && resolve());
      const drained = () => resolve();
      this.readiness.closing.addEventListener('abort', drained);
      const timer = setTimeout(resolve, Math.max(0, Math.min(LOOK_EVERY_MS, until - this.clock.now())));
      stop = () => {
        off();
        clearTimeout(timer);
        this.readiness.closing.removeEventListener('abort', drained);
      };
    });
    return { wait, stop: () => stop() };
  }
}
