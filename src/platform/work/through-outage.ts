import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '../kernel/errors.js';

const TRY_EVERY_MS = 500;

/**
 * Does it again for as long as the database cannot be reached or takes no writes, until this process ends: for what is
 * known, and would be lost with the process's memory alone, such as that a mail has arrived.
 */
export async function throughOutage<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await pause(TRY_EVERY_MS);
    }
  }
}
