import { lookup, Resolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';

/** Milliseconds for one name (CONTRACT, Webhooks). */
const RESOLVE_MS = 2_000;
const TRIES = 2;

/** Turns host names into addresses. */
@Injectable()
export class NameResolver {
  readonly #lookups = new Map<string, Promise<string[]>>();

  /**
   * Every address that DNS has for `host`. Asks the name servers itself: the system's lookup takes a thread of the
   * process until it gives up, of which there are few, so that two names that hang would hold up all others.
   *
   * @throws Error the name does not resolve, or not within 2 s
   */
  async resolve(host: string): Promise<string[]> {
    const resolver = this.resolver();
    const [four, six] = await within(
      host,
      Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]),
      () => resolver.cancel(),
    );
    const addresses = [four, six].flatMap((found) => (found.status === 'fulfilled' ? found.value : []));
    if (addresses.length === 0) throw (four as PromiseRejectedResult).reason;
    return addresses;
  }

  /**
   * Every address that the system knows for `host`, so that its hosts file and the names of containers count. Only for
   * names that the operator chose.
   *
   * @throws Error the name does not resolve, or not within 2 s
   */
  async lookUp(host: string): Promise<string[]> {
    return within(host, this.#lookup(host));
  }

  protected resolver(): Resolver {
    return new Resolver({ timeout: RESOLVE_MS / TRIES, tries: TRIES });
  }

  /** Joins a lookup that is still running, so that one name never takes more than one thread. */
  #lookup(host: string): Promise<string[]> {
    const running = this.#lookups.get(host);
    if (running) return running;
    const started = lookup(host, { all: true, order: 'verbatim' })
      .then((found) => found.map(({ address }) => address))
      .finally(() => this.#lookups.delete(host));
    this.#lookups.set(host, started);
    return started;
  }
}

async function within<T>(host: string, answer: Promise<T>, giveUp?: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      giveUp?.();
      reject(new Error(`${host} did not resolve in time`));
    }, RESOLVE_MS);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
