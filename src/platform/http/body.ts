import type { Response } from 'express';
import { PayloadTooLarge, UnsupportedMediaType, ValidationFailed } from '../kernel/errors.js';
import type { AdmittedRequest } from './admitted-request.js';
import { keyFaults, parseJson } from './json.js';

/** CONTRACT section 1. */
const MAX_BODY_BYTES = 1024 * 1024;
/** A draft of a hundred work packets is edited in one form. */
const MAX_FIELDS = 1_000;

/**
 * Reads and parses the body of a request that may carry one.
 * @throws PayloadTooLarge, UnsupportedMediaType, MalformedJson or ValidationFailed
 */
export async function readBody(
  request: AdmittedRequest,
  response: Response,
  kind: 'json' | 'form' = 'json',
): Promise<void> {
  const rawBody = await readRawBody(request, response);
  if (request.method === 'GET' || request.method === 'HEAD') {
    if (rawBody.length > 0) throw unexpectedBody(request.method);
    return;
  }
  if (rawBody.length === 0) {
    request.body = {};
    return;
  }
  if (kind === 'json') {
    assertMediaType(request, 'application/json');
    request.body = parseJson(rawBody);
  } else if (request.headers['content-type']?.toLowerCase().startsWith('multipart/form-data')) {
    request.body = fieldsOf(await parseMultipart(rawBody, request.headers['content-type']));
  } else {
    assertMediaType(request, 'application/x-www-form-urlencoded');
    request.body = fieldsOf([...new URLSearchParams(rawBody.toString())]);
  }
}

/**
 * The fields of a form; of one that comes more than once a list, so that no value is passed over. What is wrong with a value is told
 * by the page of the form, which shows it again. @throws ValidationFailed for too many
 */
function fieldsOf(fields: [string, string][]): Record<string, string | string[]> {
  if (fields.length > MAX_FIELDS) {
    const message = `a form has at most ${MAX_FIELDS.toLocaleString('en')} fields`;
    throw new ValidationFailed({ details: [{ path: '', rule: 'maxEntries', message }] });
  }
  const faults = fields.flatMap(([name]) => keyFaults(name, name));
  if (faults.length > 0) throw new ValidationFailed({ details: faults });
  const values = Map.groupBy(fields, ([name]) => name);
  return Object.fromEntries(
    [...values].map(([name, [first, ...others]]) => [
      name,
      others.length === 0 ? first![1] : [first!, ...others].map(([, value]) => value),
    ]),
  );
}

/** As the providers of mailboxes send a form (RFC 8058); files in it are left out. @throws ValidationFailed */
async function parseMultipart(rawBody: Buffer, type: string): Promise<[string, string][]> {
  try {
    const form = await new globalThis.Response(rawBody, { headers: { 'Content-Type': type } }).formData();
    return [...form].filter((field): field is [string, string] => typeof field[1] === 'string');
  } catch {
    const message = 'the body is not the form that its Content-Type says';
    throw new ValidationFailed({ details: [{ path: '', rule: 'form', message }] });
  }
}

/**
 * For a route that has no body: nothing, or an object of nothing, which some clients always send.
 * @throws ValidationFailed naming what is in it
 */
export function assertNoProperties(body: object | undefined): void {
  const details = Object.keys(body ?? {}).map((name) => ({
    path: name,
    rule: 'unknownProperty',
    message: `${name} is not a known property: this route does not accept a body`,
  }));
  if (details.length > 0) throw new ValidationFailed({ details });
}

function unexpectedBody(method: string) {
  return new ValidationFailed({
    details: [{ path: '', rule: 'noBody', message: `a ${method} request must not have a body` }],
  });
}

/**
 * The body's exact bytes, read once and kept in `rawBody`.
 * @throws PayloadTooLarge
 */
export async function readRawBody(request: AdmittedRequest, response: Response): Promise<Buffer> {
  // Most requests without a body say so, and cost no turn of the event loop.
  if (!hasBody(request)) request.rawBody = Buffer.alloc(0);
  return (request.rawBody ??= await receive(request, response));
}

/** RFC 9112 (6.3): a request without either header has no body. */
function hasBody({ headers }: AdmittedRequest): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
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

function assertMediaType(request: AdmittedRequest, wanted: string): void {
  const [type, ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const encoding = request.headers['content-encoding'];
  const isUtf8 = charset === undefined || charset.replaceAll('"', '') === 'utf-8';
  if (type !== wanted || !isUtf8 || (encoding !== undefined && encoding !== 'identity'))
    throw new UnsupportedMediaType();
}
