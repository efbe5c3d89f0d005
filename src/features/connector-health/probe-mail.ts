import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Mailer, MailProbeFailed } from '../mail/mailer.js';
import type { ProbeResult } from './connector-health.js';
import { ConnectorProbes, type Probe } from './connector-probes.js';

/** Connects to the mail server and signs in, as far as a mail would go, and sends none. */
@Injectable()
export class ProbeMail implements Probe, OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly mailer: Mailer,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('mail', this);
  }

  async probe(_connector: unknown, signal: AbortSignal): Promise<ProbeResult> {
    const started = performance.now();
    try {
      await this.mailer.probe(signal);
    } catch (error) {
      if (!(error instanceof MailProbeFailed)) throw error;
      return { kind: error.isRefused ? 'refused' : 'failed', reason: error.message };
    }
    const latencyMs = Math.round(performance.now() - started);
    const reason =
      this.config.mailTransport === 'file'
        ? 'Mail is written to files in DATA_DIR/outbox and reaches nobody.'
        : 'The mail server accepts mail.';
    return { kind: 'ok', latencyMs, reason };
  }
}
