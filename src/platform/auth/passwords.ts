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
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws Unavailable when too many wait already */
  hash(password: string): Promise<string> {
    return this.inTurn(() => hash(password));
  }

  /** @throws Unavailable when too many wait already */
  verify(password: string, passwordHash: string): Promise<boolean> {
    return this.inTurn(() => verify(passwordHash, password));
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
