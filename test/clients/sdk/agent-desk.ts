import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import {
  type ActionRequestView,
  Consigliere,
  OutcomeUnknown,
  permits,
  type Permitted,
} from '@consigliere/sdk';
import { expect } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { type Fault, HostileProxy, type Seen } from './hostile-proxy.js';

export const TOOL = 'shop.refund';

export interface Refund extends Record<string, unknown> {
  order: string;
  amount: number;
}

/** A workspace with an agent, a person who decides, and the server of a tool that acts with a permit alone. */
export class AgentDesk {
  /** What the tool has done. */
  readonly acts: Refund[] = [];
  /** What becomes of the agent's requests on their way. */
  fault: (seen: Seen) => Fault | undefined = () => undefined;
  /** What the tool answers instead of acting. */
  instead: ((response: import('node:http').ServerResponse) => void) | undefined;
  readonly agent: Consigliere;
  readonly admin: Consigliere;

  private constructor(
    readonly test: TestApp,
    readonly proxy: HostileProxy,
    readonly token: string,
    readonly toolUrl: string,
    private readonly server: Server,
    admin: string,
  ) {
    this.agent = new Consigliere({ baseUrl: proxy.url, token });
    this.admin = new Consigliere({ baseUrl: test.url, token: admin, fetch: fromAnywhere });
  }

  static async open(): Promise<AgentDesk> {
    const test = await startTestApp();
    const admin = await test.createMember(test.workspaceId, 'owner');
    const client = new Consigliere({ baseUrl: test.url, token: admin.token, fetch: fromAnywhere });
    await client.tools.create({
      name: TOOL,
      title: 'Refund an order',
      paramsSchema: {
        type: 'object',
        properties: { order: { type: 'string' }, amount: { type: 'number' } },
        required: ['order', 'amount'],
      },
      reversibility: 'reversible',
      risk: 'low',
      titleTemplate: 'Refund {{order}}',
    });
    const { standingOrderId, version } = await client.standingOrders.create({
      name: 'Small refunds',
      effect: 'allow',
      match: { actionTypes: [TOOL], fields: { 'params.amount': { $lte: 50 } } },
    });
    await client.standingOrders.activate(standingOrderId, { acknowledge: true, version });
    const denied = await client.standingOrders.create({
      name: 'No large refunds',
      effect: 'deny',
      match: { actionTypes: [TOOL], fields: { 'params.amount': { $gt: 1_000 } } },
    });
    await client.standingOrders.activate(denied.standingOrderId, {
      acknowledge: true,
      version: denied.version,
    });
    const { token } = await client.tokens.create({
      name: 'Shop',
      agent: { name: 'Shop' },
      tools: ['shop.*'],
    });
    const proxy = await HostileProxy.start(test.url, (seen) => desk.fault(seen));
    const server = createServer((request, response) => {
      const act = async () => {
        const params = (await json(request)) as Refund;
        const permit = request.headers.authorization?.replace('Permit ', '') ?? '';
        const { url, workspaceId } = test;
        await permits.verify(permit, { issuer: url, workspaceId, tool: TOOL, params });
        if (desk.instead) return desk.instead(response);
        desk.acts.push(params);
        response.end(JSON.stringify({ refunded: params.order }));
      };
      act().catch((error: Error) => response.writeHead(403).end(JSON.stringify({ error: error.message })));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const toolUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const desk: AgentDesk = new AgentDesk(test, proxy, token, toolUrl, server, admin.token);
    return desk;
  }

  /** As before the first test. */
  reset(): void {
    this.acts.length = 0;
    this.proxy.take();
    this.fault = () => undefined;
    this.instead = undefined;
    this.test.clock.goOn();
  }

  /** Calls the tool's server, as an act of the agent does. */
  readonly refund = async (params: Refund, { permit }: Permitted): Promise<{ refunded: string }> => {
    const response = await fetch(this.toolUrl, {
      method: 'POST',
      headers: { Authorization: `Permit ${permit}` },
      body: JSON.stringify(params),
    });
    if (response.status >= 500) throw new OutcomeUnknown(`The tool answered ${response.status}.`);
    const answer = (await response.json()) as { refunded: string; error?: string };
    if (answer.error) throw new Error(answer.error);
    return answer;
  };

  /** The approval of the request for this order, once it waits. */
  async waiting(order: string): Promise<{ approvalId: string; contentHash: string }> {
    const found = await eventually(
      async () =>
        (await this.admin.approvals.list({ limit: 100 })).items.find(
          ({ title }) => title.replaceAll(/[“”]/g, '') === `Refund ${order}`,
        ),
      Boolean,
    );
    const { approvalId, contentHash } = await this.admin.approvals.get(found!.approvalId);
    return { approvalId, contentHash: contentHash! };
  }

  async approve(order: string): Promise<void> {
    await this.admin.approvals.approve((await this.waiting(order)).approvalId);
  }

  async approveWith(order: string, params: Refund): Promise<void> {
    const { approvalId, contentHash: read } = await this.waiting(order);
    const { contentHash } = await this.admin.approvals.edit(approvalId, { params }, { ifMatch: read });
    await this.admin.approvals.approve(approvalId, { ifMatch: contentHash! });
  }

  async reject(order: string, feedback: string): Promise<void> {
    await this.admin.approvals.reject((await this.waiting(order)).approvalId, { feedback });
  }

  /** Nobody decides in the time that was given. */
  async letExpire(order: string): Promise<void> {
    const { approvalId } = await this.waiting(order);
    const [request] = await this.requests(order);
    const past = `now() - interval '1 second'`;
    await this.test.rows(`update approvals set expires_at = ${past} where approval_id = $1`, [approvalId]);
    await this.test.rows(`update action_requests set expires_at = ${past} where action_request_id = $1`, [
      request!.actionRequestId,
    ]);
  }

  async kill(): Promise<void> {
    await this.admin.guardian.kill({ reason: 'Stop.' });
  }

  /** What was approved a moment before the kill is void (CONTRACT, section 7, Consume). */
  async approveThenKill(order: string): Promise<void> {
    const { approvalId } = await this.waiting(order);
    this.fault = ({ path }) =>
      path.endsWith('/consume') ? { status: 503, headers: { 'Retry-After': '1' } } : undefined;
    await this.admin.approvals.approve(approvalId);
    await this.kill();
    this.fault = () => undefined;
  }

  async revert(): Promise<void> {
    await this.admin.guardian.revert({ mode: 'resume', reason: 'Go on.' });
  }

  /** Each request for this order, oldest first. */
  async requests(order: string): Promise<ActionRequestView[]> {
    const rows = await this.test.rows<{ id: string }>(
      `select action_request_id as id from action_requests where params ->> 'order' = $1 order by created_at`,
      [order],
    );
    return Promise.all(rows.map(({ id }) => this.admin.actions.get(id)));
  }

  async expectStatuses(order: string, statuses: string[]): Promise<void> {
    expect((await this.requests(order)).map(({ status }) => status)).toEqual(statuses);
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await this.proxy.close();
    await this.test.close();
  }
}

/** From another address each time: one address may call a route 30 times a minute. */
const fromAnywhere: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  const part = () => Math.floor(Math.random() * 256);
  headers.set('X-Forwarded-For', `10.${part()}.${part()}.${part()}`);
  return fetch(url, { ...init, headers });
};
