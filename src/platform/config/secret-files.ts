import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { environment, notes } from './environment.js';

/** One variable that cannot be used as it is. */
export interface ConfigFault {
  variable: string;
  message: string;
}

/** What a variable's name ends with when it names a file that contains the secret. */
const SUFFIX = '_FILE';

/** Longer than any secret, and than a model's key; a wrong path may lead to a file of gigabytes. */
export const SECRET_BYTES = 65_536;

const WHY: Record<string, string> = {
  ENOENT: 'names a file that does not exist',
  EACCES: 'names a file that this user may not read',
  EISDIR: 'names a folder',
};

const secrets = Object.entries(environment.shape)
  .filter(([, schema]) => notes.get(schema)?.secret)
  .map(([variable]) => variable);

/**
 * The environment with each secret that is given as a file (`SECRETS_KEY_FILE`, as Docker and Kubernetes mount them) in
 * the variable of its name. The end of the last line is no part of a secret. Never repeats a path or a secret: either may
 * stand in the wrong variable.
 */
export function withSecretFiles(given: NodeJS.ProcessEnv): {
  given: NodeJS.ProcessEnv;
  faults: ConfigFault[];
} {
  const values = { ...given };
  const faults: ConfigFault[] = [];
  for (const name of secrets) {
    const variable = name + SUFFIX;
    const path = given[variable];
    if (path === undefined) continue;
    if (given[name] !== undefined) {
      faults.push({ variable, message: `must not be set together with ${name}` });
      // Neither is more right than the other; that it is set keeps what depends on it from being asked for.
      continue;
    }
    try {
      values[name] = secretIn(readBounded(path, SECRET_BYTES));
    } catch (error) {
      faults.push({ variable, message: whyUnreadable(error) });
    }
  }
  return { given: values, faults };
}

class Unusable extends Error {}

/** @throws what {@link whyUnreadable} puts into words, also for a file of more than `maxBytes` */
export function readBounded(path: string, maxBytes: number): string {
  // Opening a pipe would otherwise wait for its writer.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new Unusable(WHY['EISDIR']);
    if (!stat.isFile()) throw new Unusable('names something that is not a regular file');
    if (stat.size > maxBytes) throw new Unusable(`names a file of more than ${maxBytes} bytes`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** The content of a file with one secret, without the end of its line. @throws for an empty one */
export function secretIn(text: string): string {
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw new Unusable('names an empty file');
  return secret;
}

/** What is wrong with the file that a variable names, behind the variable's name. */
export function whyUnreadable(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return WHY[code] ?? `names a file that cannot be read (${code})`;
}
