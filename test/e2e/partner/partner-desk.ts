import { randomUUID } from 'node:crypto';
import { sign } from '@octokit/webhooks-methods';
import { expect } from 'vitest';
import { PartnerSecretService } from '../../../src/features/partner/partner-secret.service.js';
import { SYSTEM } from '../../../src/platform/auth/caller.js';
import { type Answer, Client } from '../../support/client.js';
import type { TestApp } from '../../support/test-app.js';

export const SIGNATURE = 'x-partner-signature';

export type Update = Record<string, unknown>;

/** The partner persona service: signs with a library of somebody else, and calls from another address each time. */
export class PartnerDesk {
  constructor(
    readonly url: string,
    readonly workspaceId: string,
    readonly secret: string,
  ) {}

  /** A desk for this workspace, with a secret of its own. */
  static async of(test: TestApp, workspaceId = test.workspaceId): Promise<PartnerDesk> {
    return new PartnerDesk(test.url, workspaceId, await rotateSecret(test, workspaceId));
  }

  /** A valid update that nobody has sent yet. */
  update(change: Update = {}): Update {
    return {
      workspaceId: this.workspaceId,
      customerEntitlementId: 'ent-17',
      partnerTargetId: 'target-3',
      partnerEventId: `pev-${randomUUID()}`,
      metric: 'trust',
      delta: -0.2,
      newConfidence: 0.45,
      firedAt: Date.now(),
      ...change,
    };
  }

  /** Sends these bytes with the signature of this desk's secret, or with `headers` that say otherwise. */
  async sendRaw(raw: string, headers: Record<string, string> = {}): Promise<Answer> {
    const client = new Client(this.url, undefined);
    return client.post('/partner/induction', raw, { [SIGNATURE]: await sign(this.secret, raw), ...headers });
  }

  send(update: Update, headers?: Record<string, string>): Promise<Answer> {
    return this.sendRaw(JSON.stringify(update), headers);
  }

  /** Sends an update that has to be accepted; answers what was sent and what came back. */
  async report(change: Update = {}): Promise<{ update: Update; answer: Answer['body'] }> {
    const update = this.update(change);
    const { status, body, text } = await this.send(update);
    expect(status, text).toBe(202);
    return { update, answer: body };
  }
}

export async function rotateSecret(test: TestApp, workspaceId: string): Promise<string> {
  const secrets = test.app.get(PartnerSecretService, { strict: false });
  return (await secrets.rotate(workspaceId, SYSTEM)).secret;
}

/** All that induction can change, in one line per table. */
export async function traces(rows: TestApp['rows'], workspaceId: string): Promise<unknown> {
  const [counted] = await rows(
    `select
       (select count(*)::int from partner_events where workspace_id = $1) as events,
       (select count(*)::int from buyers where workspace_id = $1) as buyers,
       (select count(*)::int from buyer_metrics where workspace_id = $1) as metrics,
       (select count(*)::int from signals where workspace_id = $1) as signals,
       (select count(*)::int from receipts where workspace_id = $1) as receipts`,
    [workspaceId],
  );
  return counted;
}
