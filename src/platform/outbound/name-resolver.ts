import { lookup } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';

/** Milliseconds for one name (CONTRACT, Webhooks). */
const RESOLVE_MS = 2_000;

/**
 * Turns a host name into addresses. Uses the system's own lookup and not a DNS query, so that the hosts file and the
 * names of containers count as they do for every other program, and so that what is checked is what would be dialled.
 */
@Injectable()
export class NameResolver {
  readonly #running = new Map<string, Promise<string[]>>();

  /**
   * Every address of `host`, in the system's order of preference.
   *
   * @throws Error the name does not resolve, or not within 2 s
   */
  async resolve(host: string): Promise<string[]> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${host} did not resolve in time`)), RESOLVE_MS);
    });
    try {
      return await Promise.race([this.#lookup(host), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Joins a lookup that is still running: each holds a thread of the process until the system gives up, and two
   * hanging at once hold up all others, so one name must never take more than one.
   */
  #lookup(host: string): Promise<string[]> {
    const running = this.#running.get(host);
    if (running) return running;
    const started = lookup(host, { all: true, order: 'verbatim' })
      .then((found) => found.map(({ address }) => address))
      .finally(() => this.#running.delete(host));
    this.#running.set(host, started);
    return started;
  }
}
