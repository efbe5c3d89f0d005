import { type JSONVisitor, printParseErrorCode, visit } from 'jsonc-parser';
import { type Fault, MAX_DETAILS } from '../kernel/define-error.js';
import { MalformedJson, ValidationFailed } from '../kernel/errors.js';
import { isLongerThan } from '../kernel/text-length.js';

/** CONTRACT section 1. */
const MAX_DEPTH = 32;
/**
 * Keys and items of a body together (CONTRACT section 1). A text of 1 MB has room for 300,000 of them, and what works
 * on a parsed body afterwards takes its time for each: the validator 5 s for 80,000 keys of one object, 60 ms for these.
 */
const MAX_ENTRIES = 10_000;
/** Keys stand in the path of every fault below them, so a long one would be repeated with each. */
const MAX_KEY_LENGTH = 256;

/**
 * Names that every object has from its prototype; no field of ours has one of them. The validator would pass over
 * them in silence.
 */
const RESERVED_KEYS = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * JSON as this API takes it: UTF-8, no duplicate, reserved or very long keys, at most 32 levels and 10,000 keys and
 * items, numbers that a double holds, text without NUL or lone surrogates.
 * @throws MalformedJson or ValidationFailed
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new MalformedJson({ message: 'The body is not valid UTF-8.' });
  }
  const faults = new Faults();
  try {
    visit(text, inspector(faults), { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    // The parser descends by recursion; a body can be deeper than any stack before our own check is reached.
    if (error instanceof RangeError) throw tooDeep();
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new MalformedJson();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ValidationFailed({
      details: [{ path: '', rule: 'isObject', message: 'the body must be an object' }],
    });
  }
  faults.throwIfAny();
  return value;
}

/** The faults of one body. Those that are only counted are not written out: each has a path of its own. */
class Faults {
  readonly #listed: Fault[] = [];
  #omitted = 0;

  add(fault: () => Fault): void {
    if (this.#listed.length < MAX_DETAILS) this.#listed.push(fault());
    else this.#omitted++;
  }

  throwIfAny(): void {
    if (this.#listed.length === 0) return;
    throw new ValidationFailed({ details: this.#listed, detailsOmitted: this.#omitted });
  }
}

function inspector(faults: Faults): JSONVisitor {
  /** The keys of each object around the current place; undefined for an array. */
  const around: (Set<string> | undefined)[] = [];
  let entries = 0;
  const countEntry = () => {
    if (++entries > MAX_ENTRIES) throw tooManyEntries();
  };
  const countItem = () => {
    if (around.length > 0 && around.at(-1) === undefined) countEntry();
  };
  const enter = (keys: Set<string> | undefined) => {
    countItem();
    if (around.push(keys) > MAX_DEPTH) throw tooDeep();
  };
  return {
    onObjectBegin: () => enter(new Set()),
    onObjectEnd: () => void around.pop(),
    onArrayBegin: () => enter(undefined),
    onArrayEnd: () => void around.pop(),
    onObjectProperty: (key, _offset, _length, _line, _character, segments) => {
      countEntry();
      if (isLongerThan(key, MAX_KEY_LENGTH)) throw longKey(segments().join('.'));
      const keys = around.at(-1)!;
      const path = () => [...segments(), key].join('.');
      if (keys.has(key))
        throw new MalformedJson({ message: `The body names ${JSON.stringify(path())} twice.` });
      keys.add(key);
      if (RESERVED_KEYS.has(key)) faults.add(() => reserved(key, path()));
      if (!isCleanText(key)) faults.add(() => unclean(path()));
    },
    onLiteralValue: (value, _offset, _length, _line, _character, segments) => {
      countItem();
      if (typeof value === 'string' && !isCleanText(value)) faults.add(() => unclean(segments().join('.')));
      if (typeof value === 'number' && !Number.isFinite(value)) {
        faults.add(() => ({
          path: segments().join('.'),
          rule: 'isNumber',
          message: 'the number is too large',
        }));
      }
    },
    onError: (code, offset) => {
      throw new MalformedJson({
        message: `The body is not valid JSON: ${printParseErrorCode(code)} at offset ${offset}.`,
      });
    },
  };
}

/** False for text that PostgreSQL cannot store or UTF-8 cannot carry. */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** What is wrong with the name of a property, whatever its value. */
export function keyFaults(key: string, path: string): Fault[] {
  return [
    ...(RESERVED_KEYS.has(key) ? [reserved(key, path)] : []),
    ...(isCleanText(key) ? [] : [unclean(path)]),
  ];
}

export function unclean(path: string): Fault {
  return { path, rule: 'isText', message: 'text must not contain NUL or lone surrogates' };
}

function reserved(key: string, path: string): Fault {
  return { path, rule: 'reservedKey', message: `${key} is a reserved name` };
}

function longKey(path: string) {
  const message = `a name must have at most ${MAX_KEY_LENGTH} characters`;
  return new ValidationFailed({ details: [{ path, rule: 'keyLength', message }] });
}

function tooManyEntries() {
  const message = `a body must have at most ${MAX_ENTRIES.toLocaleString('en')} keys and items together`;
  return new ValidationFailed({ details: [{ path: '', rule: 'maxEntries', message }] });
}

function tooDeep() {
  return new MalformedJson({ message: `The body is nested deeper than ${MAX_DEPTH} levels.` });
}
