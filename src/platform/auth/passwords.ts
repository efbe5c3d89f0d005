import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { Unavailable } from '../kernel/errors.js';

/** At a time in one process: the rest of the threads stays with everything else. */
const AT_A_TIME = 2;
/** Waiting at most; whoever comes then is told to come back. */
const WAITING = 200;

/** Hashes passwords with Argon2id, a few at a time, so that they cannot starve other requests. */
@Injectable()
export class Passwords {
  /** The hash of a password that nobody has. */
  #nobodys: Promise<string> | undefined;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws Unavailable when too many wait already */
  hash(password: string): Promise<string> {
    return this.inTurn(() => hash(password));
  }

  /**
   * Whether the hash is one of this password. Without a hash it is not, after the same work: the time of the answer must not
   * tell which accounts there are.
   * @throws Unavailable when too many wait already
   */
  verify(password: string, passwordHash: string | null | undefined): Promise<boolean> {
    return this.inTurn(async () => {
      this.#nobodys ??= hash(randomBytes(16).toString('base64url'));
      const fits = await verify(passwordHash ?? (await this.#nobodys), password);
      return fits && passwordHash != null;
    });
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_A_TIME) {
      if (this.#waiting.length >= WAITING) throw new Unavailable({ retryAfterSeconds: 5 });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running++;
    }
    try {
      return await work();
    } finally {
      // Whoever waits takes over this turn.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
