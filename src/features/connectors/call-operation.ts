import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/observability/metrics.js';
import { excerptOf } from '../../platform/outbound/excerpt.js';
import { GuardedRequest, type WholeAnswer } from '../../platform/outbound/guarded-request.js';
import type { LoadedConnector } from './load-connectors.js';
import { type Arguments, type Operation, requestOf } from './operation.js';

/** A number with at most so many digits is the same when it has been read and is written again. */
const EXACT_DIGITS = 15;

/**
 * JSON as an answer is read, or undefined where it is none. A number that would be rounded, such as an id beyond 2^53, is
 * kept as its text: rounded it is the id of something else.
 */
export function exactJson(text: string): unknown {
  try {
    return JSON.parse(text, exactly as (key: string, value: unknown) => unknown) as unknown;
  } catch {
    return undefined;
  }
}

/** `source` is what stands in the text, of a value that is neither list nor object. */
function exactly(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value !== 'number' || source === undefined || isExact(value, source) ? value : source;
}

function isExact(value: number, source: string): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value) && isWholeNumber(source);
  const digits = source.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  return Number.isFinite(value) && digits.length <= EXACT_DIGITS;
}

/** `1.0` and `1e3` are whole; so long a fraction that it is rounded to a whole number is not. */
function isWholeNumber(source: string): boolean {
  return /^-?\d+$/.test(source) || source.length <= EXACT_DIGITS;
}

const REDACTED = '[redacted]';

/**
 * A text of somebody else without these secrets, in the ways in which a service may repeat them: as they are, within JSON,
 * within a URL, and in base64.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const spellings = [...new Set(secrets.flatMap(spellingsOf))].toSorted((a, b) => b.length - a.length);
  return spellings.reduce((rest, spelling) => rest.replaceAll(spelling, REDACTED), text);
}

function spellingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inBase64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    inJson,
    inJson.replaceAll('/', String.raw`\/`),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll('%20', '+'),
    inBase64,
    inBase64.replaceAll('/', String.raw`\/`),
    inBase64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}

interface Call {
  connector: LoadedConnector;
  operation: Operation;
  arguments: Arguments;
  /** The same whenever the same call is made. */
  key: string;
  signal: AbortSignal;
}

/** What a service answered; what it repeated of our secrets is blotted out. */
type CallAnswer =
  | (Omit<Extract<WholeAnswer, { kind: 'answered' }>, 'body' | 'isWhole'> & {
      /** The first 2 KiB. */
      excerpt: string;
      /** The body, where it is JSON of at most 64 KiB, read by {@link exactJson}; else undefined. */
      json: unknown;
    })
  | Extract<WholeAnswer, { kind: 'failed' }>;

/** Makes one call through the guarded request: public addresses only, no redirects, bounded in time and size. */
@Injectable()
export class CallOperation {
  readonly #count: (outcome: 'answered' | 'refused' | 'failed') => void;

  constructor(
    private readonly requests: GuardedRequest,
    metrics: Metrics,
  ) {
    this.#count = metrics.outcomes(
      'consigliere_connector_calls_total',
      'Calls of operations of connectors that this process made, by what came of them',
      ['answered', 'refused', 'failed'],
    );
  }

  async execute({ connector, operation, arguments: given, key, signal }: Call): Promise<CallAnswer> {
    const { method, url, body } = requestOf(operation, given);
    const answer = await this.requests.send({
      method,
      url,
      headers: {
        ...unlessNamed(connector.headers, { 'User-Agent': 'Consigliere', Accept: 'application/json' }),
        ...connector.headers,
        'Accept-Encoding': 'identity',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(operation.hasKey && { 'Idempotency-Key': key }),
      },
      ...(body !== undefined && { body }),
      timeoutMs: operation.timeoutMs,
      signal,
    });
    if (answer.kind === 'failed') {
      this.#count('failed');
      return answer;
    }
    const { body: bytes, isWhole, ...answered } = answer;
    this.#count(answered.status >= 200 && answered.status < 300 ? 'answered' : 'refused');
    const text = redact(new TextDecoder().decode(bytes), connector.secrets);
    return {
      ...answered,
      excerpt: excerptOf(text),
      json: isWhole ? exactJson(text) : undefined,
    };
  }
}

/** Ours, where the operator names no header of the same name in whatever case. */
function unlessNamed(
  named: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Record<string, string> {
  const taken = Object.keys(named).map((name) => name.toLowerCase());
  return Object.fromEntries(Object.entries(ours).filter(([name]) => !taken.includes(name.toLowerCase())));
}
