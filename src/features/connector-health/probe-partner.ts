import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PartnerSecretService } from '../partner/index.js';
import type { ProbeResult } from './connector-health.js';
import { ConnectorProbes, type Probe, type ProbedConnector } from './connector-probes.js';

/** The partner calls us and is never called: what can fail here is the secret that its requests are signed with. */
@Injectable()
export class ProbePartner implements Probe, OnModuleInit {
  constructor(
    private readonly partner: PartnerSecretService,
    private readonly probes: ConnectorProbes,
  ) {}

  onModuleInit(): void {
    this.probes.register('partner', this);
  }

  async probe({ workspaceId }: ProbedConnector): Promise<ProbeResult | undefined> {
    const isReadable = await this.partner.isReadable({ workspaceId, teamIds: 'all' });
    if (isReadable === undefined) return undefined;
    if (isReadable) {
      return { kind: 'ok', latencyMs: null, reason: 'Requests of the partner can be verified.' };
    }
    const reason =
      'The secret of the partner cannot be opened with the SECRETS_KEY of this service, so its requests are refused: rotate it.';
    return { kind: 'refused', reason };
  }
}
