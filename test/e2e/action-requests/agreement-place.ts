import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { verifyLog } from '../../../src/features/verifier/verifier.js';
import { Client } from '../../support/client.js';
import type { TestApp } from '../../support/test-app.js';
import type { OrderDesk } from '../standing-orders/order-desk.js';

const ANYTHING = { type: 'object', properties: { amount: {}, currency: {}, to: {}, note: {} } };
const TOOLS: (Record<string, unknown> & { name: string })[] = [
  { name: 'pay.invoice', reversibility: 'reversible', amountPath: 'amount', currencyPath: 'currency' },
  { name: 'pay.cents', amountPath: 'amount', amountUnit: 'minor', currencyPath: 'currency' },
  { name: 'pay.blind', reversibility: 'externally_reversible', amountPath: 'amount' },
  { name: 'pay.paused', reversibility: 'reversible', amountPath: 'amount', currencyPath: 'currency' },
  { name: 'mail.post', recipientsPath: 'to' },
  { name: 'crm.note', reversibility: 'read_only' },
  {
    name: 'crm.strict',
    reversibility: 'reversible',
    amountPath: 'amount',
    currencyPath: 'currency',
    paramsSchema: {
      ...ANYTHING,
      required: ['amount'],
      properties: { amount: { type: 'number' }, currency: {} },
    },
  },
];
export const AGENTS = { 'alpha-bot': ['pay.*', 'mail.*', 'crm.*'], 'beta-bot': ['pay.*', 'crm.note'] };

/** One request of an agent, or of the member themselves. */
export interface Asked {
  by: keyof typeof AGENTS | 'member';
  tool: string;
  params: Record<string, unknown>;
  isOfTeam: boolean;
  /** Whether it is consumed once it is allowed. */
  consume: boolean;
}

/** A workspace with its tools, agents and settings. */
export class Place {
  readonly clients: Record<string, Client> = {};
  readonly asked: { actionRequestId: string; outcome: string; isOfTeam: boolean }[] = [];

  private constructor(
    private readonly desk: OrderDesk,
    readonly workspaceId: string,
    readonly owner: Client,
    readonly teamId: string,
  ) {}

  static async open(
    test: TestApp,
    desk: OrderDesk,
    { currency, mode }: { currency: string; mode: string },
  ): Promise<Place> {
    const { workspaceId, owner } = await test.createWorkspace();
    const place = new Place(desk, workspaceId, owner, await test.createTeam(workspaceId, 'A'));
    expect((await owner.put('/settings', { currency, timezone: 'Europe/Vienna' })).status).toBe(200);
    if (mode !== 'guardrailed') expect((await owner.put('/guardian/mode', { mode })).status).toBe(200);
    for (const [name, tools] of Object.entries(AGENTS)) {
      const { body } = await owner.post('/tokens', { name, agent: { name }, tools });
      place.clients[name] = new Client(test.url, body.token);
    }
    place.clients['member'] = new Client(test.url, owner.token);
    for (const tool of TOOLS) {
      const made = await owner.post('/tools', { paramsSchema: ANYTHING, risk: 'low', ...tool });
      expect(made.status, made.text).toBe(201);
    }
    expect((await owner.send('PATCH', '/tools/pay.paused', { status: 'paused' })).status).toBe(200);
    return place;
  }

  /** The ids of those that could be created: some contradict themselves. */
  async order(order: { isOfTeam: boolean }, n: number, isActive: boolean): Promise<string | undefined> {
    const { isOfTeam, ...rule } = order;
    const body = { ...rule, name: `Order ${n}`, teamId: isOfTeam ? this.teamId : null };
    const made = await this.desk.elsewhere(this.owner).post('/standing-orders', body);
    expect([201, 422], made.text).toContain(made.status);
    if (made.status === 422) return undefined;
    const { standingOrderId } = made.body;
    if (isActive) expect((await this.desk.activate(standingOrderId, this.owner)).body.status).toBe('active');
    return standingOrderId;
  }

  private teamOf({ isOfTeam }: Asked) {
    return isOfTeam ? { teamId: this.teamId } : {};
  }

  /** What preflight says; with the reasons. */
  async preflight(asked: Asked): Promise<{ outcome: string; explanation?: string[] }> {
    const { by, tool, params } = asked;
    const agent = by === 'member' ? {} : { agent: by };
    const body = { action: { tool, params, ...agent }, ...this.teamOf(asked) };
    const answer = await this.desk.elsewhere(this.owner).post('/guardian/preflight', body);
    return answer.status === 200 ? answer.body : { outcome: String(answer.status) };
  }

  async ask(asked: Asked): Promise<string> {
    const { by, tool, params, consume, isOfTeam } = asked;
    const client = this.clients[by]!;
    const answer = await client.post('/action-requests', { tool, params, ...this.teamOf(asked) });
    if (answer.status !== 201) return String(answer.status);
    const { actionRequestId, status, retryAt, paramsHash } = answer.body;
    const outcome = outcomeOf(status, retryAt);
    this.asked.push({ actionRequestId, outcome, isOfTeam });
    if (consume && outcome === 'allow') {
      const path = `/action-requests/${actionRequestId}/consume`;
      const consumed = await client.post(path, { attempt: actionRequestId.padEnd(40, 'x'), paramsHash });
      expect(consumed.status, consumed.text).toBe(200);
    }
    return outcome;
  }

  async simulate(standingOrderId: string) {
    const answer = await this.desk.elsewhere(this.owner).post(`/standing-orders/${standingOrderId}/simulate`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as { considered: number; changes: { workPacketId: string; to: string }[] };
  }

  /** The receipts of the whole workspace, as `verify-export` reads them. */
  async verify(): Promise<void> {
    const { text } = await this.desk.elsewhere(this.owner).get('/audit-feed?format=jsonl');
    const { proofs, gaps } = await verifyLog(Readable.from([Buffer.from(text)]), this.workspaceId);
    expect(proofs.inWords().join('\n')).toContain(' 0 differences were found');
    expect({ gaps, isSound: proofs.areSound }, proofs.inWords().join('\n')).toEqual({
      gaps: 0,
      isSound: true,
    });
    const { decisions, equal } = proofs.decisions;
    expect(equal).toBe(decisions);
    const told = new Map<string, string>();
    for (const line of text.trimEnd().split('\n').toReversed()) {
      const { entity, details } = JSON.parse(line);
      if (entity.type === 'action_request' && details.decisions)
        told.set(entity.id, details.decisions[0].outcome);
    }
    expect(Object.fromEntries(told)).toEqual(
      Object.fromEntries(this.asked.map(({ actionRequestId, outcome }) => [actionRequestId, outcome])),
    );
  }
}

function outcomeOf(status: string, retryAt: number | null): string {
  if (status === 'pending') return retryAt === null ? 'require_approval' : 'throttle';
  return status === 'allowed' ? 'allow' : 'deny';
}
