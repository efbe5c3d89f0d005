import { hash } from '@node-rs/argon2';
import { sign } from '@octokit/webhooks-methods';
import type { EventReceiver } from '../support/event-receiver.js';
import { type AdminClient, type Answer, Client, sessionHeaders } from '../support/client.js';
import { eventually, type TestApp, type TestMember } from '../support/test-app.js';
import { EscalationDesk } from '../e2e/escalations/escalation-desk.js';
import { rotateSecret } from '../e2e/partner/partner-desk.js';
import { leaveReport } from '../e2e/reports/report-rows.js';
import { newPublisher } from '../support/skill-packs.js';
import { SignalDesk } from '../e2e/records/signal-desk.js';
import { operationOf } from './operations.js';

/** Signs the packs that are installed on a walk. */
export const PUBLISHER = newPublisher('acme');

export const MAIL = 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.';
export const MEMO = 'File this memo for the board: The delivery delays end on Friday.';
export const ALLOW_MEMOS = {
  name: 'File documents',
  effect: 'allow',
  match: { actionTypes: ['document.file'] },
};

/** One call through the proxy. */
export interface Call {
  /** The operation in the document; undefined when there is none. */
  name: string | undefined;
  status: number;
  /** What Prism has against the request or the answer. */
  violations: unknown[];
  answer: Answer;
}

/** Where a step walks: what stands at both paths is called below `/api/pro` by token, below `/api/admin` by session. */
export type Area = 'pro' | 'admin';

interface Proxy {
  url: string;
  area: Area;
}

/** A client whose calls go through the proxy and are kept. */
class ProxiedClient extends Client {
  constructor(
    private readonly proxy: Proxy,
    private readonly credentials: Record<string, string>,
    private readonly calls: Call[],
  ) {
    super(proxy.url, undefined);
  }

  override async send<T = any>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const asked = path.startsWith('/api/') ? path : `/api/pro${path}`;
    const full = asked.replace(/^\/api\/pro(?=\/)/, `/api/${this.proxy.area}`);
    const answer = await super.send<T>(method, full, body, { ...this.credentials, ...headers });
    const name = operationOf(method, full)?.name;
    this.calls.push({ name, status: answer.status, violations: violationsOf(answer), answer });
    return answer;
  }
}

function violationsOf({ headers, text }: Answer): unknown[] {
  const header = headers.get('sl-violations');
  if (header !== null) return [header];
  return headers.get('content-type')?.includes('application/problem+json') === true ? [text] : [];
}

/** A workspace of its own for each step, so that no step depends on another. */
export class Walk {
  readonly calls: Call[] = [];

  private constructor(
    readonly test: TestApp,
    readonly receiver: EventReceiver,
    readonly workspaceId: string,
    private readonly proxy: Proxy,
    private readonly member: TestMember,
    /** The owner's. */
    readonly session: AdminClient,
  ) {}

  static async begin(test: TestApp, receiver: EventReceiver, proxy: Proxy): Promise<Walk> {
    const { workspaceId, owner } = await test.createWorkspace();
    const member = owner as TestMember;
    return new Walk(test, receiver, workspaceId, proxy, member, await test.signIn(member.memberId));
  }

  /** The same workspace in another area. */
  in(area: Area): Walk {
    const { test, receiver, workspaceId, member, session } = this;
    return new Walk(test, receiver, workspaceId, { ...this.proxy, area }, member, session);
  }

  /** The owner, through the proxy. */
  get owner(): Client {
    return this.client(this.member.token, this.session.secret);
  }

  /** The owner of the first workspace, through the proxy. */
  async first(): Promise<Client> {
    return this.client(this.test.owner.token!, (await this.test.signIn()).secret);
  }

  /** Somebody whose token, or cookie, is none, through the proxy. */
  get stranger(): Client {
    return this.client('cons_nobody', 'nobody');
  }

  /** Nobody in particular, through the proxy. */
  get anyone(): Client {
    return new ProxiedClient(this.proxy, {}, this.calls);
  }

  /** The owner without the proxy: prepares what a step needs. */
  get direct(): Client {
    return new Client(this.test.url, this.member.token);
  }

  get ownerToken(): string {
    return this.member.token;
  }

  /** Gives the owner's account a password. */
  async password(): Promise<{ email: string; password: string }> {
    const password = 'correct horse battery staple';
    const [user] = await this.test.rows<{ email: string }>(
      `update users set password_hash = $1
       where user_id = (select user_id from members where member_id = $2) returning email`,
      [await hash(password), this.member.memberId],
    );
    return { email: user!.email, password };
  }

  /** Calls a path outside of `/api` without a token, through the proxy. */
  async probe(path: string): Promise<void> {
    const response = await fetch(this.proxy.url + path);
    const { status, headers } = response;
    const text = await response.text();
    const answer = { status, headers, body: text, text };
    this.calls.push({
      name: operationOf('GET', path)?.name,
      status,
      violations: violationsOf(answer),
      answer,
    });
  }

  /** A member who may read and nothing else, through the proxy. */
  async viewer(): Promise<Client> {
    return this.as(await this.test.createMember(this.workspaceId, 'viewer'));
  }

  /** This member, through the proxy. */
  async as({ memberId, token }: TestMember): Promise<Client> {
    return this.client(token, (await this.test.signIn(memberId)).secret);
  }

  private client(token: string, secret: string): Client {
    const isAdmin = this.proxy.area === 'admin';
    return new ProxiedClient(
      this.proxy,
      isAdmin ? sessionHeaders(secret) : { 'x-service-token': token },
      this.calls,
    );
  }

  /** An approval whose draft is attached. */
  async ready(text = MAIL): Promise<{ directiveId: string; approvalId: string; contentHash: string }> {
    const { directiveId, approvalId } = (await this.direct.post('/directive', { text })).body;
    const { contentHash, ready } = (await this.direct.get(`/approvals/${approvalId}?wait=10`)).body;
    if (ready !== true) throw new Error('no draft within 10 s');
    return { directiveId, approvalId, contentHash };
  }

  /** A directive that was approved and carried out. */
  async executed(text?: string): Promise<string> {
    const { directiveId, approvalId } = await this.ready(text);
    await this.direct.post(`/approvals/${approvalId}/approve`);
    await eventually(
      async () => (await this.direct.get(`/directives/${directiveId}`)).body.status,
      (status) => status === 'executed',
    );
    return directiveId;
  }

  async order(order: object): Promise<string> {
    return (await this.direct.post('/standing-orders', order)).body.standingOrderId;
  }

  async destination(): Promise<string> {
    const { hostPort } = this.receiver;
    const body = { event: 'report.daily', url: `http://${hostPort}/events`, secret: 'a secret of Acme 2026' };
    const answer = await this.direct.post('/webhooks', body);
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.destinationId;
  }

  /** A delivery that has arrived. */
  async delivery(destinationId: string): Promise<string> {
    const { deliveryId } = (await this.direct.post(`/webhooks/${destinationId}/test`)).body;
    await eventually(
      async () => (await this.direct.get(`/webhooks/${destinationId}/deliveries`)).body.items[0].status,
      (status) => status === 'delivered',
    );
    return deliveryId;
  }

  /** A signed update of the partner persona service. */
  async update(client: Client, change: object = {}, secret?: string): Promise<Answer> {
    const raw = JSON.stringify({
      workspaceId: this.workspaceId,
      customerEntitlementId: 'ent-17',
      partnerTargetId: 'target-3',
      partnerEventId: 'pev-1',
      metric: 'trust',
      delta: -0.2,
      newConfidence: 0.45,
      priorConfidence: 0.65,
      sourceServiceRef: { table: 'calls', id: '42' },
      firedAt: Date.now(),
      ...change,
    });
    const signature = await sign(secret ?? (await rotateSecret(this.test, this.workspaceId)), raw);
    return client.post('/partner/induction', raw, { 'x-partner-signature': signature });
  }

  signal(): Promise<string> {
    return new SignalDesk(this.test).raise({}, this.workspaceId);
  }

  /** An escalation that may be dismissed. */
  escalation(): Promise<string> {
    return new EscalationDesk(this.test, this.workspaceId, this.member.token).open();
  }

  /** A report that was made. */
  report(): Promise<string> {
    return leaveReport(this.test.rows, this.workspaceId);
  }

  /** A workspace with a little of everything, so that no list is empty. */
  async everything(): Promise<void> {
    await this.order(ALLOW_MEMOS);
    await this.executed();
    await this.executed(MEMO);
    await this.ready();
    await this.signal();
    await this.update(this.direct);
    await this.direct.post('/revenue-events', { amount: 600.5, currency: 'EUR', source: 'Acme' });
    const teamId = await this.test.createTeam(this.workspaceId, 'Sales');
    await this.direct.post('/directives', { directive: MAIL, capo: 'capo_ops', teamId });
  }
}
