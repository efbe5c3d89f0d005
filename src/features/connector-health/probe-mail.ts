import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Work } from '../../platform/work/work.js';
import { LOGIN_REFUSED, MailProbeFailed, Mailer } from '../mail/index.js';
import type { ProbeResult } from './connector-health.js';
import { ConnectorProbes, type Probe } from './connector-probes.js';
import { MonitoredConnectors } from './monitored-connectors.repository.js';

/**
 * Connects to the mail server and signs in, as far as a mail would go, and sends none. Mail that waits because the server did
 * not let us in goes on once it does.
 */
@Injectable()
export class ProbeMail implements Probe, OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly mailer: Mailer,
    private readonly probes: ConnectorProbes,
    private readonly monitored: MonitoredConnectors,
    private readonly work: Work,
  ) {}

  onModuleInit(): void {
    this.mailer.loginRefused = () => this.monitored.checkKindNow('mail');
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
    await this.work.resumeParked(LOGIN_REFUSED);
    const latencyMs = Math.round(performance.now() - started);
    const reason =
      this.config.mailTransport === 'file'
        ? 'Mail is written to files in DATA_DIR/outbox and reaches nobody.'
        : 'The mail server accepts mail.';
    return { kind: 'ok', latencyMs, reason };
  }
}
