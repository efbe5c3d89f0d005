import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { baseUrlOf } from '../capos/index.js';
import type { ProbeResult } from './connector-health.js';
import { ANSWER_MS, ConnectorProbes, type Probe } from './connector-probes.js';

/** What a server answers that has no list of its models: it is there, and accepts our requests. */
const NO_LIST = [404, 405, 501];

/**
 * Asks the provider for the list of its models, with our key: that costs nothing, and no model is asked anything. A compatible
 * server that has no such list is only known to be there.
 */
@Injectable()
export class ProbeModel implements Probe, OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('model', this);
  }

  async probe(_connector: unknown, signal: AbortSignal): Promise<ProbeResult> {
    const { modelProvider: provider, modelBaseUrl: baseUrl, modelApiKey: apiKey = '' } = this.config;
    if (provider === 'builtin') {
      const reason = 'Drafts are made by the built-in runner, which needs no service outside.';
      return { kind: 'ok', latencyMs: null, reason };
    }
    const started = performance.now();
    try {
      const answer = await fetch(`${baseUrlOf({ provider, baseUrl }).replace(/\/+$/, '')}/models`, {
        headers: { accept: 'application/json', ...credentials(provider, apiKey) },
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      });
      await answer.body?.cancel();
      return judged(answer.status, Math.round(performance.now() - started));
    } catch (error) {
      const isLate = (error as Error).name === 'TimeoutError' || signal.aborted;
      // What fetch throws but for that is a TypeError with a cause from the network.
      if (!isLate && !(error instanceof TypeError && error.cause !== undefined)) throw error;
      const reason = isLate
        ? `The model provider did not answer within ${ANSWER_MS / 1_000} seconds.`
        : 'The model provider cannot be reached.';
      return { kind: 'failed', reason };
    }
  }
}

function credentials(provider: string, apiKey: string): Record<string, string> {
  if (provider === 'anthropic') return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
  return apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` };
}

function judged(status: number, latencyMs: number): ProbeResult {
  if (status >= 200 && status < 300) return { kind: 'ok', latencyMs, reason: 'The model provider answers.' };
  if (status === 401 || status === 403) {
    return {
      kind: 'refused',
      latencyMs,
      reason: `The model provider refused MODEL_API_KEY (status ${status}).`,
    };
  }
  if (NO_LIST.includes(status)) {
    const reason = 'The model provider answers; it has no list of models, so no more is known.';
    return { kind: 'ok', latencyMs, reason };
  }
  return { kind: 'failed', latencyMs, reason: `The model provider answered with status ${status}.` };
}
