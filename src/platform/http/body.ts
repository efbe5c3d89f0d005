import type { Response } from 'express';
import { PayloadTooLarge, UnsupportedMediaType } from '../kernel/errors.js';
import type { AdmittedRequest } from './admitted-request.js';
import { parseJson } from './json.js';

/** CONTRACT section 1. */
const MAX_BODY_BYTES = 1024 * 1024;

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
