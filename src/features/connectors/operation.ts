import type { Fault } from '../../platform/kernel/define-error.js';
import type { OutboundMethod } from '../../platform/outbound/guarded-request.js';
import type { UndoContent } from './connectors-schema.js';
import { checkOf, type ObjectSchema, type ParamSchema } from './param-schema.js';

/** What a call is made with. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * One thing that may be asked of a service outside, as the operator's file describes it. Plain data without a secret: a
 * runner and a person may read all of it.
 */
export interface Operation {
  connector: string;
  operation: string;
  description: string;
  method: OutboundMethod;
  /** The connector's address with the path behind it, in which `{name}` stands for a parameter. */
  url: string;
  params: ObjectSchema;
  timeoutMs: number;
  /** It may be called again when nobody knows whether it took effect. */
  repeatable: boolean;
  /** The service is told a key by which it knows a repeated call. */
  hasKey: boolean;
  readOnly: boolean;
  amount: { value: string; currency: string } | null;
  /** Null where there is nothing to undo. */
  undo: UndoContent | null;
  /** SHA-256 over all that the file says of it and of its undo: a packet that was approved names it. */
  definition: string;
}

/** The request that a call is, apart from its headers. */
export interface OperationRequest {
  method: OutboundMethod;
  url: string;
  body?: string;
}

/** What every server takes. */
const MAX_URL_LENGTH = 8_000;

const PLACE = /\{([^{}]*)\}/g;

/** The parameters that stand in the path. */
export function placesIn(url: string): string[] {
  return [...url.matchAll(PLACE)].map(([, name]) => name!);
}

/** Every fault of the arguments, at paths such as `email` or `address.city`. */
export function faultsOfArguments(
  { params, method, url }: Pick<Operation, 'params' | 'method' | 'url'>,
  given: unknown,
): Fault[] {
  const parsed = checkOf({ ...params }).safeParse(given);
  if (!parsed.success) {
    return parsed.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({
            path: [...issue.path, key].map(String).join('.'),
            rule: 'unknown',
            message: 'is not a parameter of this operation',
          }))
        : [{ path: issue.path.map(String).join('.'), rule: issue.code, message: issue.message }],
    );
  }
  const values = given as Arguments;
  const faults = placesIn(url)
    .filter((name) => !isPathSegment(String(values[name])))
    .map((name) => ({
      path: name,
      rule: 'pathSegment',
      message: 'stands in a path, so it must not be empty, "." or ".."',
    }));
  if (faults.length > 0 || requestOf({ method, url }, values).url.length <= MAX_URL_LENGTH) return faults;
  const message = `make an address of more than ${MAX_URL_LENGTH} characters`;
  return [{ path: '', rule: 'maxLength', message }];
}

/** An empty one, or one of dots, would reach another path than the one that was configured. */
function isPathSegment(value: string): boolean {
  return value !== '' && value !== '.' && value !== '..' && value.isWellFormed();
}

/** What is sent for arguments that are right. */
export function requestOf(
  { method, url }: Pick<Operation, 'method' | 'url'>,
  given: Arguments,
): OperationRequest {
  const inPath = new Set(placesIn(url));
  const target = url.replace(PLACE, (_, name: string) => encodeURIComponent(String(given[name])));
  const rest = Object.entries(given).filter(([name, value]) => !inPath.has(name) && value !== undefined);
  if (method !== 'GET' && method !== 'DELETE')
    return { method, url: target, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams(
    Object.fromEntries(rest.map(([name, value]) => [name, String(value)])),
  ).toString();
  return { method, url: query === '' ? target : `${target}?${query}` };
}

/** The money that a call moves; null where the operation names none, or the arguments hold none. */
export function amountOf(
  { amount }: Pick<Operation, 'amount'>,
  given: Arguments,
): { amount: number; currency: string } | null {
  if (!amount) return null;
  const value = at({ params: given }, amount.value);
  const currency = amount.currency.startsWith('params.')
    ? at({ params: given }, amount.currency)
    : amount.currency;
  return typeof value === 'number' && typeof currency === 'string' ? { amount: value, currency } : null;
}

/** What undoes a call, what its answer lacked for that, or why what it held is of no use. */
export type UndoCall =
  | { operation: string; arguments: Arguments }
  | { operation: string; missing: string[] }
  | { operation: string; unusable: string };

/** Longer values are no id. */
const MAX_VALUE_LENGTH = 2_000;

/**
 * The undo of one call, from what it was called with and what was answered (`exactJson`). A value that is not there, or is
 * no plain value, is missing: nothing is undone by guessing. What the undo would not take is said at once, when the call is
 * answered, and not only when somebody wants it undone.
 * @param undone the operation that undoes
 */
export function undoOf(
  { operation, params }: UndoContent,
  undone: Pick<Operation, 'params' | 'method' | 'url'>,
  given: Arguments,
  response: unknown,
): UndoCall {
  const sources = Object.entries(params).map(([name, source]) => {
    const value = typeof source === 'string' ? at({ params: given, response }, source) : source.value;
    return { name, source: typeof source === 'string' ? source : name, value };
  });
  const missing = sources.filter(({ value }) => !isPlain(value)).map(({ source }) => source);
  if (missing.length > 0) return { operation, missing };
  const values = sources.map(({ name, value }) => [name, asDeclared(undone.params.properties[name], value)]);
  const found = Object.fromEntries(values) as Arguments;
  const [fault] = faultsOfArguments(undone, found);
  if (!fault) return { operation, arguments: found };
  const { source = fault.path } = sources.find(({ name }) => name === fault.path) ?? {};
  return { operation, unusable: `${source} cannot be its ${fault.path}: ${fault.message}` };
}

/** Many services answer an id as a number and take it as a text in the path: that is no guess. */
function asDeclared(schema: ParamSchema | undefined, value: unknown): unknown {
  return schema?.type === 'string' && typeof value === 'number' ? String(value) : value;
}

function isPlain(value: unknown): boolean {
  // The database holds neither NUL nor half a character.
  if (typeof value === 'string')
    return value.length <= MAX_VALUE_LENGTH && value.isWellFormed() && !value.includes('\0');
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

/** What stands at a path such as `response.data.0.id`. */
function at(from: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, step)
          ? (value as Record<string, unknown>)[step]
          : undefined,
      from,
    );
}
