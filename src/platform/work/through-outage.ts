import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '../kernel/errors.js';

const TRY_EVERY_MS = 500;
/** Longer than a database takes to restart. When the lease is over by then, the result is void, which its attempt tells. */
const TRIES = 240;

/**
 * Does it again for as long as the database cannot be reached: for what is known, and would be lost with the process's
 * memory alone, such as that a mail has arrived. @throws Unavailable after two minutes
 */
export async function throughOutage<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Unavailable) || tries >= TRIES) throw error;
      await pause(TRY_EVERY_MS);
    }
  }
}
