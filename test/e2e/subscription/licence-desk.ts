import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Tier } from '../../../src/platform/auth/caller.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { type Licence, publicKeyOf, signLicence } from '../../../src/features/subscription/licence.js';
import { SubscriptionService } from '../../../src/features/subscription/subscription.service.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember, type TestWorkspace } from '../../support/test-app.js';

export const DAY = 24 * 60 * 60 * 1000;

export function newIssuer(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey;
}

/** A service that knows one issuer, and the issuer. */
export class LicenceDesk {
  #number = 0;

  private constructor(
    readonly test: TestApp,
    readonly issuer: KeyObject,
  ) {}

  static async open(environment: Record<string, string> = {}): Promise<LicenceDesk> {
    const issuer = newIssuer();
    const test = await startTestApp({ LICENCE_PUBLIC_KEY: publicKeyOf(issuer), ...environment });
    return new LicenceDesk(test, issuer);
  }

  /** A licence of a year for this workspace, with a higher number than the one before. */
  licence(workspaceId: string, more: Partial<Licence> = {}): Licence {
    const issuedAt = this.test.clock.now();
    return {
      licenceId: newId('lic'),
      number: ++this.#number,
      workspaceId,
      tier: 'enterprise',
      entitlements: [],
      issuedAt,
      expiresAt: issuedAt + 365 * DAY,
      ...more,
    };
  }

  issue(workspaceId: string, more: Partial<Licence> = {}): string {
    return signLicence(this.licence(workspaceId, more), this.issuer);
  }

  async workspace(tier: Tier = 'pro'): Promise<TestWorkspace & { owner: TestMember }> {
    const { workspaceId, owner } = await this.test.createWorkspace(tier);
    return { workspaceId, owner: owner as TestMember };
  }

  /** The same caller from another address, since one may verify 60 times an hour. */
  verify(caller: Client, licenseKey?: string, headers: Record<string, string> = {}) {
    const client = new Client(this.test.url, caller.token);
    return client.post(
      '/subscription/verify',
      licenseKey === undefined ? undefined : { licenseKey },
      headers,
    );
  }

  /** What the program does every five seconds. */
  end(): Promise<void> {
    return this.test.app.get(SubscriptionService).endLicences();
  }

  async tier(workspaceId: string): Promise<Tier> {
    const [row] = await this.test.rows<{ tier: Tier }>(
      'select tier from workspaces where workspace_id = $1',
      [workspaceId],
    );
    return row!.tier;
  }

  /** Everything that a licence can change. */
  async stored(workspaceId: string): Promise<string> {
    const values = [workspaceId];
    return JSON.stringify([
      await this.test.rows('select tier from workspaces where workspace_id = $1', values),
      await this.test.rows('select * from licences where workspace_id = $1', values),
      await this.test.rows('select seq from receipts where workspace_id = $1', values),
      await this.test.rows('select signal_id from signals where workspace_id = $1', values),
    ]);
  }

  /** The receipts of changed tiers, oldest first. */
  async changes(workspaceId: string): Promise<any[]> {
    const rows = await this.test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'subscription.changed' order by seq`,
      [workspaceId],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  signals(workspaceId: string) {
    return this.test.rows<{ type: string; severity: string; title: string }>(
      'select type, severity, title from signals where workspace_id = $1 order by created_at, signal_id',
      [workspaceId],
    );
  }
}
