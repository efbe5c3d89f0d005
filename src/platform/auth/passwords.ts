import { randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Unavailable } from '../kernel/errors.js';
import { CallFailed } from '../processes/call-failed.js';
import { ProcessPool } from '../processes/process-pool.js';
import { canonicalPassword } from './new-password.js';

/** A password to hash, or to hold against a hash. */
export interface PasswordWork {
  password: string;
  passwordHash?: string;
}

const PROCESSES = {
  entry: new URL('./password-process.js', import.meta.url),
  size: 1,
  timeLimitMs: 20_000,
  memoryLimitMb: 64,
  // A hash takes a processor for as long as some hundred requests do; sign-ins wait for requests, not requests for sign-ins.
  niceness: 19,
};
/** The most that may wait; later callers are told to retry. */
const WAITING = 200;

/** Written like a hash of ours, so that holding a password against it is the same work; no password has it. */
const NOBODYS = `$argon2id$v=19$m=19456,t=2,p=1$${unpadded(16)}$${unpadded(32)}`;

const NEVER = new AbortController().signal;

/** Hashes passwords with Argon2id, in a process of its own that gives way to all others: sign-ins starve no request. */
@Injectable()
export class Passwords implements OnApplicationShutdown {
  readonly #processes = new ProcessPool<PasswordWork, string | boolean>(PROCESSES);
  #underWay = 0;

  /** @throws Unavailable when too many wait already */
  async hash(password: string): Promise<string> {
    return (await this.run({ password: canonicalPassword(password) })) as string;
  }

  /**
   * Whether the hash is one of this password. Without a hash it is not, after the same work: the time of the answer must not
   * tell which accounts there are.
   * @throws Unavailable when too many wait already
   */
  async verify(password: string, passwordHash: string | null | undefined): Promise<boolean> {
    const against = passwordHash ?? NOBODYS;
    const fits = await this.run({ password: canonicalPassword(password), passwordHash: against });
    return fits === true && passwordHash !== null && passwordHash !== undefined;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#processes.close();
  }

  private async run(work: PasswordWork): Promise<string | boolean> {
    if (this.#underWay >= PROCESSES.size + WAITING) throw new Unavailable({ retryAfterSeconds: 5 });
    this.#underWay++;
    try {
      return await this.#processes.run(work, NEVER);
    } catch (error) {
      throw error instanceof CallFailed ? new Unavailable({ cause: error }) : error;
    } finally {
      this.#underWay--;
    }
  }
}

function unpadded(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '');
}
