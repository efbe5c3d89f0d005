import type { Response } from 'express';
import { type JSONVisitor, printParseErrorCode, visit } from 'jsonc-parser';
import type { Fault } from '../kernel/define-error.js';
import { MalformedJson, PayloadTooLarge, UnsupportedMediaType, ValidationFailed } from '../kernel/errors.js';
import type { AdmittedRequest } from './admitted-request.js';

/** CONTRACT section 1. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_BODY_DEPTH = 32;

/**
 * Names that every object has from its prototype; no field of ours has one of them. The validator would pass over
 * them in silence.
 */
const RESERVED_KEYS = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses the body of a request that may carry one.
 * @throws PayloadTooLarge, UnsupportedMediaType, MalformedJson or ValidationFailed
 */
export async function readBody(request: AdmittedRequest, response: Response): Promise<void> {
  const rawBody = await readRawBody(request, response);
  if (request.method === 'GET' || request.method === 'HEAD') return;
  if (rawBody.length === 0) {
    request.body = {};
    return;
  }
  assertJsonMediaType(request);
  request.body = parseJson(rawBody);
}

/**
 * The body's exact bytes, read once and kept in `rawBody`; none for a request that must not carry a body.
 * @throws PayloadTooLarge
 */
export async function readRawBody(request: AdmittedRequest, response: Response): Promise<Buffer> {
  if (request.method === 'GET' || request.method === 'HEAD') request.rawBody = Buffer.alloc(0);
  return (request.rawBody ??= await receive(request, response));
}

async function receive(request: AdmittedRequest, response: Response): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > MAX_BODY_BYTES) {
    // What is left of the body is not worth reading, so the connection cannot be used again.
    response.set('Connection', 'close');
    throw new PayloadTooLarge();
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      response.set('Connection', 'close');
      throw new PayloadTooLarge();
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function assertJsonMediaType(request: AdmittedRequest): void {
  const [type, ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const encoding = request.headers['content-encoding'];
  const isJson = type === 'application/json';
  const isUtf8 = charset === undefined || charset.replaceAll('"', '') === 'utf-8';
  if (!isJson || !isUtf8 || (encoding !== undefined && encoding !== 'identity'))
    throw new UnsupportedMediaType();
}

/**
 * JSON as this API takes it: UTF-8, no duplicate or reserved keys, at most 32 levels, numbers that a double holds,
 * text without NUL or lone surrogates.
 */
function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new MalformedJson({ message: 'The body is not valid UTF-8.' });
  }
  const faults: Fault[] = [];
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
  if (faults.length > 0) throw new ValidationFailed({ details: faults.slice(0, 100) });
  return value;
}

function inspector(faults: Fault[]): JSONVisitor {
  const objects: Set<string>[] = [];
  let depth = 0;
  const enter = () => {
    if (++depth > MAX_BODY_DEPTH) throw tooDeep();
  };
  const path = (segments: () => (string | number)[]) => segments().join('.');
  return {
    onObjectBegin: () => {
      enter();
      objects.push(new Set());
    },
    onObjectEnd: () => {
      depth--;
      objects.pop();
    },
    onArrayBegin: enter,
    onArrayEnd: () => {
      depth--;
    },
    onObjectProperty: (key, _offset, _length, _line, _character, segments) => {
      const keys = objects.at(-1)!;
      const at = [...segments(), key].join('.');
      if (keys.has(key)) throw new MalformedJson({ message: `The body names ${JSON.stringify(at)} twice.` });
      keys.add(key);
      faults.push(...keyFaults(key, at));
    },
    onLiteralValue: (value, _offset, _length, _line, _character, segments) => {
      if (typeof value === 'string' && !isCleanText(value)) {
        faults.push(unclean(path(segments)));
      }
      if (typeof value === 'number' && !Number.isFinite(value)) {
        faults.push({ path: path(segments), rule: 'isNumber', message: 'the number is too large' });
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
  const faults: Fault[] = [];
  if (RESERVED_KEYS.has(key)) {
    faults.push({ path, rule: 'reservedKey', message: `${key} is a reserved name` });
  }
  if (!isCleanText(key)) faults.push(unclean(path));
  return faults;
}

export function unclean(path: string): Fault {
  return { path, rule: 'isText', message: 'text must not hold NUL or lone surrogates' };
}

function tooDeep() {
  return new MalformedJson({ message: `The body is nested deeper than ${MAX_BODY_DEPTH} levels.` });
}
