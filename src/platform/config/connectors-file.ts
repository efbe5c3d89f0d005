import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { type ConfigFault, readBounded, SECRET_BYTES, secretIn, whyUnreadable } from './secret-files.js';
import { environment } from './environment.js';

const VARIABLE = 'CONNECTORS_FILE';
const MAX_BYTES = 1024 * 1024;
/** Deeper than any schema of a parameter. */
const MAX_DEPTH = 32;

/**
 * The operator's file of connectors (docs/guides/connectors.md) as it was read, and the secrets that it names as
 * `{ "env": "NAME" }`. The feature that uses it says whether it is right. The secrets stand in a private field, so nothing
 * that prints this object prints them.
 */
export class ConnectorsFile {
  readonly #secrets: ReadonlyMap<string, string>;

  constructor(
    readonly path: string,
    readonly content: unknown,
    secrets: ReadonlyMap<string, string>,
  ) {
    this.#secrets = secrets;
    Object.freeze(this);
  }

  /** The value of a variable that the file names; undefined where it is not set. */
  secret(variable: string): string | undefined {
    return this.#secrets.get(variable);
  }
}

/** A variable of this service itself: what it holds is not for others to be sent. */
export function isOwnVariable(variable: string): boolean {
  return Object.hasOwn(environment.shape, variable.replace(/_FILE$/, '')) || variable === VARIABLE;
}

export function readConnectorsFile(given: NodeJS.ProcessEnv): {
  file?: ConnectorsFile;
  faults: ConfigFault[];
} {
  const path = given[VARIABLE];
  if (path === undefined) return { faults: [] };
  try {
    const content = parsed(readBounded(path, MAX_BYTES));
    if (typeof content === 'string') return { faults: [{ variable: VARIABLE, message: content }] };
    return { file: new ConnectorsFile(path, content.value, secretsFor(content.value, given)), faults: [] };
  } catch (error) {
    return { faults: [{ variable: VARIABLE, message: whyUnreadable(error) }] };
  }
}

/** The value, or where it is no JSON. What stands there is not repeated. */
function parsed(text: string): { value: unknown } | string {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (!first) return { value };
  const before = text.slice(0, first.offset).split('\n');
  const at = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
  return `names a file that is not JSON: ${printParseErrorCode(first.error)} at ${at}`;
}

/** The value of each variable that the file names, from the environment or from the file that `<NAME>_FILE` names. */
function secretsFor(content: unknown, given: NodeJS.ProcessEnv): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const variable of variablesIn(content)) {
    if (isOwnVariable(variable)) continue;
    const path = given[`${variable}_FILE`];
    const value = given[variable] ?? (path === undefined ? undefined : secretOf(path));
    if (value !== undefined) secrets.set(variable, value);
  }
  return secrets;
}

/** Undefined for a file that cannot be read: the secret is then missing where the file of connectors names it. */
function secretOf(path: string): string | undefined {
  try {
    return secretIn(readBounded(path, SECRET_BYTES));
  } catch {
    return undefined;
  }
}

function variablesIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  const { env } = value as { env?: unknown };
  return [
    ...(typeof env === 'string' ? [env] : []),
    ...Object.values(value).flatMap((each) => variablesIn(each, depth + 1)),
  ];
}
