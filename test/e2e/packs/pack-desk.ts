import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Revocations } from '../../../src/features/packs/revocations.js';
import { signDocument } from '../../../src/platform/signatures/signed-document.js';
import { Client } from '../../support/client.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import {
  manifestOf,
  newPublisher,
  type Publisher,
  publishersOf,
  signedPack,
} from '../../support/skill-packs.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

/** A service that knows two publishers and their list of revocations, and a receiver of its events. */
export class PackDesk {
  private constructor(
    readonly test: TestApp,
    readonly receiver: EventReceiver,
    readonly acme: Publisher,
    readonly globex: Publisher,
    readonly folder: string,
  ) {}

  static async open(environment: Record<string, string> = {}): Promise<PackDesk> {
    const [acme, globex] = [newPublisher('acme'), newPublisher('globex')];
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-packs-'));
    const file = join(folder, 'revocations.json');
    await writeFile(file, '[]');
    const receiver = await startEventReceiver();
    try {
      const test = await startTestApp({
        SKILL_PACK_PUBLISHERS: publishersOf(acme, globex),
        SKILL_PACK_REVOCATIONS: file,
        OUTBOUND_ALLOW: receiver.hostPort,
        ...environment,
      });
      return new PackDesk(test, receiver, acme, globex, folder);
    } catch (error) {
      await receiver.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.test.close();
    await this.receiver.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  get revocations(): string {
    return join(this.folder, 'revocations.json');
  }

  async workspace(): Promise<PackWorkspace> {
    const { workspaceId, owner } = await this.test.createWorkspace();
    return new PackWorkspace(this, workspaceId, owner as TestMember);
  }

  /** Writes the file of revocations; `list` is signed by acme unless said. */
  async revoke(list: object, by = this.acme): Promise<void> {
    await writeFile(this.revocations, JSON.stringify([{ list, signature: signDocument(list, by.key) }]));
    await this.look();
  }

  /** What each process does every five seconds. */
  look(): Promise<void> {
    return this.test.app.get(Revocations).enqueueRevoked();
  }
}

/** A workspace of its own, so that no test depends on another. */
export class PackWorkspace {
  constructor(
    readonly desk: PackDesk,
    readonly workspaceId: string,
    readonly owner: TestMember,
  ) {}

  /** The owner, from another address each time. */
  get client(): Client {
    return new Client(this.desk.test.url, this.owner.token);
  }

  /** Asks for a pack that acme has signed. */
  post(manifest: object = manifestOf(), by = this.desk.acme) {
    return this.client.post('/skill-packs', signedPack(manifest, by));
  }

  /** Installs a pack, and answers it once all of it has arrived. */
  async install(manifest: object = manifestOf(), by = this.desk.acme) {
    const answer = await this.post(manifest, by);
    expect(answer.status, answer.text).toBe(202);
    return this.until(answer.body.packId, 'installed');
  }

  async pack(packId: string) {
    return (await this.client.get(`/skill-packs/${packId}`)).body;
  }

  until(packId: string, status: string) {
    return eventually(
      () => this.pack(packId),
      (pack) => pack.status === status,
      30,
    );
  }

  async order(standingOrderId: string) {
    return (await this.client.get(`/standing-orders/${standingOrderId}`)).body;
  }

  /** The order of this key. */
  async orderOf(packId: string, key: string) {
    const { standingOrders } = await this.pack(packId);
    return this.order(standingOrders.find((one: { key: string }) => one.key === key).standingOrderId);
  }

  rows<T = Record<string, unknown>>(sql: string, ...values: unknown[]): Promise<T[]> {
    return this.desk.test.rows<T>(sql, [this.workspaceId, ...values]);
  }

  /** Actions of the receipts, in their order. */
  async receipts(like = '%'): Promise<string[]> {
    const rows = await this.rows<{ action: string }>(
      'select action from receipts where workspace_id = $1 and action like $2 order by seq',
      like,
    );
    return rows.map(({ action }) => action);
  }

  /** All that is stored about packs, orders and receipts: what a refused request must leave as it was. */
  async stored(): Promise<unknown> {
    const tables = [
      'skill_packs',
      'skill_pack_skills',
      'skill_pack_orders',
      'standing_orders',
      'guardian_checkpoints',
      'eval_runs',
    ];
    const counts = tables.map(
      async (table) =>
        (
          await this.rows(
            `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as sum from ${table} t where workspace_id = $1`,
          )
        )[0],
    );
    return [await Promise.all(counts), await this.receipts()];
  }

  /** Events of these types that the receiver got for this workspace. */
  async subscribe(): Promise<void> {
    const body = {
      description: 'Packs',
      url: this.desk.receiver.url,
      events: ['pack.installed', 'pack.revoked'],
    };
    const answer = await this.client.post('/partner/webhooks', body);
    expect(answer.status, answer.text).toBe(201);
  }

  received(event: string): { payload: any }[] {
    return this.desk.receiver.received
      .map(({ body }) => JSON.parse(body.toString()))
      .filter((one) => one.event === event && one.workspaceId === this.workspaceId);
  }
}
