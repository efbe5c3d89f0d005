import { Client } from '../../support/client.js';
import type { Answer, TestApp, TestMember } from '../../support/test-app.js';

export const MAIL_TO_ACME = {
  name: 'Mail to Acme',
  effect: 'allow',
  match: { actionTypes: ['email.send'], fields: { 'params.to': { $domainIn: ['acme.example'] } } },
};

export const NO_MAIL = { name: 'No mail', effect: 'deny', match: { actionTypes: ['email.send'] } };

/** Within what can be undone, so it is active at once. */
export const FILE_DOCUMENTS = {
  name: 'File documents',
  effect: 'allow',
  match: { actionTypes: ['document.file'] },
};

/** Writes orders as their owner would, and looks at what is stored. */
export class OrderDesk {
  constructor(private readonly test: TestApp) {}

  /** The same member from another address: 30 calls a minute are all that one address has. */
  elsewhere({ url, token }: Client): Client {
    return new Client(url, token);
  }

  async create(order: object, by: Client = this.test.owner): Promise<string> {
    const answer = await this.elsewhere(by).post('/standing-orders', order);
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.standingOrderId;
  }

  /** An order that decides, whatever it takes to activate it. */
  async active(order: object, owner: Client = this.test.owner): Promise<string> {
    const standingOrderId = await this.create(order, owner);
    const answer = await this.activate(standingOrderId, owner);
    if (answer.body.status !== 'active') throw new Error(answer.text);
    return standingOrderId;
  }

  /** As one who has read it as it is now. */
  async activate(standingOrderId: string, owner: Client = this.test.owner): Promise<Answer> {
    const row: Record<string, unknown> | undefined = await this.row(standingOrderId);
    const path = `/standing-orders/${standingOrderId}/activate`;
    return this.elsewhere(owner).post(path, { acknowledge: true, version: row?.['version'] ?? 1 });
  }

  revise(standingOrderId: string, change: object, by: Client = this.test.owner): Promise<Answer> {
    return this.elsewhere(by).send('PATCH', `/standing-orders/${standingOrderId}`, change);
  }

  rollBack(standingOrderId: string, body: object, by: Client = this.test.owner): Promise<Answer> {
    return this.elsewhere(by).post(`/standing-orders/${standingOrderId}/rollback`, body);
  }

  member(role: 'viewer' | 'operator' | 'admin', teamIds: string[] = []): Promise<TestMember> {
    return this.test.createMember(this.test.workspaceId, role, teamIds);
  }

  async row(standingOrderId: string): Promise<Record<string, unknown>> {
    return (
      await this.test.rows('select * from standing_orders where standing_order_id = $1', [standingOrderId])
    )[0]!;
  }

  /** What is kept of each version, oldest first. */
  versions(standingOrderId: string): Promise<Record<string, unknown>[]> {
    return this.test.rows(
      'select * from standing_order_versions where standing_order_id = $1 order by version',
      [standingOrderId],
    );
  }

  async count(): Promise<number> {
    return (await this.test.rows('select 1 from standing_orders')).length;
  }

  /** How many connections wait for a lock. */
  async waiting(): Promise<number> {
    const waiting = await this.test.rows(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length;
  }

  async receipts(standingOrderId: string): Promise<Record<string, unknown>[]> {
    const rows = await this.test.rows<{ body: string }>(
      'select body from receipts where entity_id = $1 order by seq',
      [standingOrderId],
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  async actions(standingOrderId: string): Promise<unknown[]> {
    return (await this.receipts(standingOrderId)).map(({ action }) => action);
  }
}
