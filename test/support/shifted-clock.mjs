/**
 * Loaded into a process of the service before its program (`NODE_OPTIONS=--import=...`): its clock goes as many milliseconds ahead of, or
 * behind, the machine's as the file CLOCK_FILE says, and CLOCK_SKEW_MS besides. What the database takes for the time stays as it is.
 */
import { readFileSync } from 'node:fs';

const { CLOCK_FILE, CLOCK_SKEW_MS = '0' } = process.env;

if (CLOCK_FILE !== undefined) {
  const now = Date.now;
  const skew = Number(CLOCK_SKEW_MS);
  let shift = 0;
  const look = () => {
    // A file that is being written may be empty for a moment.
    const text = readFileSync(CLOCK_FILE, 'utf8').trim();
    if (text !== '') shift = Number(text) + skew;
  };
  look();
  setInterval(look, 20).unref();
  const Real = Date;
  const shifted = () => now() + shift;
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [shifted()] : given, as),
    apply: () => new Real(shifted()).toString(),
    get: (target, name) => (name === 'now' ? shifted : Reflect.get(target, name)),
  });
}
