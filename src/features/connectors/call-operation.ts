import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/observability/metrics.js';
import { excerptOf } from '../../platform/outbound/excerpt.js';
import { GuardedRequest, type WholeAnswer } from '../../platform/outbound/guarded-request.js';
import { exactJson } from './exact-json.js';
import type { LoadedConnector } from './load-connectors.js';
import { type Arguments, type Operation, requestOf } from './operation.js';
import { redact } from './redact.js';

export interface Call {
  connector: LoadedConnector;
  operation: Operation;
  arguments: Arguments;
  /** The same whenever the same call is made. */
  key: string;
  signal: AbortSignal;
}

/** What a service answered; what it repeated of our secrets is blotted out. */
export type CallAnswer =
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
