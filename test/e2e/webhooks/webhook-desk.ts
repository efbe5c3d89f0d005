import { expect } from 'vitest';
import { secretPurpose } from '../../../src/features/webhooks/destination-secrets.js';
import type { Role } from '../../../src/platform/auth/caller.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { NameResolver } from '../../../src/platform/outbound/name-resolver.js';
import { SecretBox } from '../../../src/platform/secrets/secret-box.js';
import { Client } from '../../support/client.js';
import { AskingResolver, type DnsServer } from '../../support/dns-server.js';
import { eventually, type TestApp, type TestMember } from '../../support/test-app.js';

/** A public address, so that no name has to be resolved; nothing is sent without a worker. */
export const PUBLIC_URL = 'https://93.184.216.34/hooks/ledger?token=topsecretquery';
export const CHOSEN_SECRET = 'a pass phrase of the customer';

/** Both spellings of what concerns one destination. */
export const SPELLINGS = ['/webhooks', '/partner/webhooks'] as const;

/** How a destination is registered on either route. */
export const REGISTRATIONS = {
  '/webhooks': { event: 'report.daily', url: PUBLIC_URL, secret: CHOSEN_SECRET },
  '/partner/webhooks': { description: 'Ledger', url: PUBLIC_URL },
} as const;

/** A secret as the service makes it. */
export const GENERATED = /^whsec_[A-Za-z0-9+/]{43}=$/;

type Row = Record<string, unknown>;

/** Lets the application ask this name server and no other. */
export function askFor(test: TestApp, dns: DnsServer): void {
  const asking = new AskingResolver(dns);
  Object.assign(test.app.get(NameResolver, { strict: false }), { resolver: () => asking['resolver']() });
}

/** Which fields a 422 finds fault with. */
export function faultPaths(body: { error: { details: { path: string }[] } }): string[] {
  return body.error.details.map(({ path }) => path);
}

/** A workspace whose admin manages destinations, and what stands in the database afterwards. */
export class WebhookDesk {
  private constructor(
    readonly test: TestApp,
    readonly workspaceId: string,
    readonly admin: TestMember,
  ) {}

  /** A desk in a new workspace. */
  static async in(test: TestApp): Promise<WebhookDesk> {
    const { workspaceId } = await test.createWorkspace();
    return new WebhookDesk(test, workspaceId, await test.createMember(workspaceId, 'admin'));
  }

  /** The admin, from an address that has called nothing yet. */
  get client(): Client {
    return new Client(this.test.url, this.admin.token);
  }

  async as(role: Role): Promise<Client> {
    return this.test.createMember(this.workspaceId, role);
  }

  async register(body: object = {}): Promise<string> {
    const answer = await this.client.post('/webhooks', { ...REGISTRATIONS['/webhooks'], ...body });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.destinationId;
  }

  async registerPartner(body: object = {}): Promise<{ destinationId: string; secret: string }> {
    const answer = await this.client.post('/partner/webhooks', {
      ...REGISTRATIONS['/partner/webhooks'],
      ...body,
    });
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  }

  async row(destinationId: string): Promise<Row> {
    const [row] = await this.test.rows('select * from webhook_destinations where destination_id = $1', [
      destinationId,
    ]);
    return row!;
  }

  /** The destinations that the workspace has. */
  live(): Promise<Row[]> {
    return this.test.rows(
      'select * from webhook_destinations where workspace_id = $1 and deleted_at is null',
      [this.workspaceId],
    );
  }

  opened(destinationId: string, sealed: unknown): string {
    return this.test.app
      .get(SecretBox, { strict: false })
      .open(sealed as string, secretPurpose(destinationId));
  }

  /** The contents of the receipts about an entity, in their order. */
  async receipts(entityId: string): Promise<Row[]> {
    const rows = await this.test.rows<{ body: string }>(
      'select body from receipts where workspace_id = $1 and entity_id = $2 order by seq',
      [this.workspaceId, entityId],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  async receiptCount(): Promise<number> {
    return (await this.test.rows('select 1 from receipts where workspace_id = $1', [this.workspaceId]))
      .length;
  }

  /** What a receiver's answers bring about, without a receiver. */
  async becomes(destinationId: string, status: 'paused' | 'gone'): Promise<void> {
    await this.test.rows(
      'update webhook_destinations set status = $2, consecutive_failures = 20 where destination_id = $1',
      [destinationId, status],
    );
    if (status === 'paused') await this.openBreaker(destinationId);
  }

  /** Lets nothing through to a destination before an hour has passed. */
  async openBreaker(destinationId: string): Promise<void> {
    await this.test.rows(
      `insert into work_breakers (kind, queue, workspace_id, opens_at, retry_every)
       values ('webhook.deliver', $1, $2, now() + interval '1 hour', interval '1 hour')
       on conflict (kind, queue) do update set opens_at = excluded.opens_at`,
      [destinationId, this.workspaceId],
    );
  }

  breakers(destinationId: string): Promise<Row[]> {
    return this.test.rows('select * from work_breakers where queue = $1', [destinationId]);
  }

  /** The work of the deliveries to a destination that have not ended. */
  work(destinationId: string): Promise<Row[]> {
    return this.test.rows('select * from work_items where queue = $1 order by id', [destinationId]);
  }

  /** A delivery as the sending side leaves it; with `dueAt` there is work for it. */
  async leaveDelivery(
    destinationId: string,
    delivery: { status?: string; attempts?: object[]; dueAt?: Date | null; eventId?: string } = {},
  ): Promise<{ deliveryId: string; eventId: string; requestId: string }> {
    const { status = 'delivered', attempts = [], dueAt = null } = delivery;
    const ids = {
      deliveryId: newId('dlv'),
      eventId: delivery.eventId ?? newId('evt'),
      requestId: newId('req'),
    };
    if (delivery.eventId === undefined) {
      await this.test.rows(
        `insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
         values ($1, $2, 'report.daily', $3, '{"event":"report.daily"}', now())`,
        [ids.eventId, this.workspaceId, ids.requestId],
      );
    }
    await this.test.rows(
      `insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, attempts,
         created_at)
       values ($1, $2, $3, $4, 'report.daily', $5, $6::jsonb, now())`,
      [
        ids.deliveryId,
        this.workspaceId,
        destinationId,
        ids.eventId,
        status === 'sending' ? 'pending' : status,
        JSON.stringify(attempts),
      ],
    );
    if (dueAt) {
      await this.test.rows(
        `insert into work_items (kind, id, workspace_id, queue, due_at, claimed)
         values ('webhook.deliver', $1, $2, $3, $4, $5)`,
        [ids.deliveryId, this.workspaceId, destinationId, dueAt, status === 'sending'],
      );
    }
    return ids;
  }

  /**
   * Runs `act` while a transaction that has executed `sql` is open, until `act` waits for one of its locks; the
   * transaction goes on with `further` and commits.
   */
  async meanwhile<T>(sql: string, act: () => Promise<T>, further = ''): Promise<T> {
    const client = await this.test.database.owner.connect();
    try {
      await client.query(`begin; ${sql}`);
      const acting = act();
      await eventually(() =>
        this.test
          .rows(`select 1 from pg_locks where not granted and $1 = any(pg_blocking_pids(pid))`, [
            (client as unknown as { processID: number }).processID,
          ])
          .then((waiting) => waiting.length > 0),
      );
      await client.query(`${further}; commit`);
      return await acting;
    } finally {
      client.release();
    }
  }

  deliveries(destinationId: string): Promise<Row[]> {
    return this.test.rows('select * from webhook_deliveries where destination_id = $1 order by delivery_id', [
      destinationId,
    ]);
  }

  /** Every row of every table, and every line of the log: what someone who reads all of it sees. */
  async everythingKept(): Promise<string> {
    const tables = await this.test.rows<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname = 'public'`,
    );
    const all = await Promise.all(tables.map(({ name }) => this.test.rows(`select t::text from ${name} t`)));
    return JSON.stringify([all, this.test.logs]);
  }
}
