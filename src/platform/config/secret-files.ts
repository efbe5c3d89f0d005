import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { ConfigFault } from './config-fault.js';
import { environment, notes } from './environment.js';

/** What a variable's name ends with when it names a file that contains the secret. */
const SUFFIX = '_FILE';

/** Longer than any secret, and than a model's key; a wrong path may lead to a file of gigabytes. */
const MAX_BYTES = 65_536;

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
      values[name] = contentOf(path);
    } catch (error) {
      faults.push({ variable, message: error instanceof Unusable ? error.message : whyUnreadable(error) });
    }
  }
  return { given: values, faults };
}

class Unusable extends Error {}

function contentOf(path: string): string {
  // Opening a pipe would otherwise wait for whoever writes into it.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new Unusable(WHY['EISDIR']);
    if (!stat.isFile()) throw new Unusable('names something that is not a regular file');
    if (stat.size > MAX_BYTES) throw new Unusable(`names a file of more than ${MAX_BYTES} bytes`);
    return secretIn(readFileSync(file, 'utf8'));
  } finally {
    closeSync(file);
  }
}

function secretIn(text: string): string {
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw new Unusable('names an empty file');
  return secret;
}

function whyUnreadable(error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return WHY[code] ?? `names a file that cannot be read (${code})`;
}
