import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AgentDesk } from '../clients/sdk/agent-desk.js';

/** A call of the tool `shop.refund` by a model, with its id. */
interface Call {
  id: string;
  params: { order: string; amount: number };
}

/** What the tool does, with the permit where the adapter hands it on. */
type Refund = (params: Call['params'], permit?: string) => Promise<unknown>;

type CallRefund = (
  client: AgentDesk['agent'],
  call: Call,
  refund: Refund,
  options?: { externalId?: () => undefined },
) => Promise<string>;

/** Those that hand the permit on to the tool. */
const WITH_PERMIT = ['ai', 'openai-agents'];

let desk: AgentDesk;
beforeAll(async () => {
  desk = await AgentDesk.open();
});
afterEach(() => desk.reset());
afterAll(() => desk?.close());

describe.each(['ai', 'openai-agents', 'langchain', 'claude-agent'])('the adapter /%s', (adapter) => {
  let callRefund: CallRefund;
  beforeAll(async () => {
    ({ callRefund } = (await import(`./adapters/${adapter}.mjs`)) as { callRefund: CallRefund });
  });

  /** What the tool does by this adapter: with a permit by way of the tool's server, which verifies it. */
  const refund: Refund = async (params, permit = '') => {
    if (WITH_PERMIT.includes(adapter)) return desk.refund({ ...params }, { permit } as never);
    desk.acts.push({ ...params });
    return { refunded: params.order };
  };
  /** What the model is told of its call; a failure of the agent as a whole is told, too. */
  const call = (name: string, amount: number) => {
    const order = `${adapter}-${name}`;
    return callRefund(desk.agent, { id: `call_${order}`, params: { order, amount } }, refund).catch(
      (error: unknown) => `Failed: ${(error as Error).message}`,
    );
  };
  const orderOf = (name: string) => `${adapter}-${name}`;

  it('does what an order allows, and what a person approves or edits', async () => {
    expect(await call('allowed', 20)).toContain('refunded');
    const [approved, edited] = await Promise.all([
      call('approved', 200),
      call('edited', 300),
      desk.approve(orderOf('approved')),
      desk.approveWith(orderOf('edited'), { order: orderOf('edited'), amount: 250 }),
    ]);
    expect([approved, edited]).toEqual([
      expect.stringContaining('refunded'),
      expect.stringContaining('refunded'),
    ]);
    expect(desk.acts.map(({ amount }) => amount).toSorted((a, b) => a - b)).toEqual([20, 200, 250]);
    for (const name of ['allowed', 'approved', 'edited'])
      await desk.expectStatuses(orderOf(name), ['completed']);
  });

  it('does nothing that is rejected or expires, and tells the model why', async () => {
    const [rejected] = await Promise.all([
      call('rejected', 200),
      desk.reject(orderOf('rejected'), 'They have had it already.'),
    ]);
    expect(rejected).toContain('They have had it already.');
    const [expired] = await Promise.all([call('expired', 200), desk.letExpire(orderOf('expired'))]);
    expect(expired).toContain('It was not done.');
    expect(desk.acts).toEqual([]);
  });

  it('does nothing while killed, with a token of a member, or when the service cannot be reached', async () => {
    await desk.kill();
    try {
      expect(await call('killed', 20)).toMatch(/kill switch/i);
    } finally {
      await desk.revert();
    }
    desk.fault = () => 'reset';
    expect(await call('unreachable', 20)).toContain('cannot be reached');
    desk.fault = ({ path }) => (path.endsWith('/consume') ? 'reset' : undefined);
    const [later] = await Promise.all([
      call('unreachable-later', 200),
      desk.approve(orderOf('unreachable-later')),
    ]);
    expect(later).toContain('cannot be reached');
    const order = orderOf('member');
    const member = callRefund(desk.admin, { id: order, params: { order, amount: 20 } }, refund).catch(String);
    expect(await member).toContain('This token belongs to a member');
    expect(desk.acts).toEqual([]);
  });

  it('does nothing for an id that the model has used before, unless calls are named otherwise', async () => {
    const callAs = (params: Call['params'], options?: { externalId: () => undefined }) =>
      callRefund(desk.agent, { id: `same_${adapter}`, params }, refund, options).catch(
        (error: unknown) => `Failed: ${(error as Error).message}`,
      );
    const order = orderOf('same');
    expect(await callAs({ order, amount: 20 })).toContain('refunded');
    expect(await callAs({ order, amount: 20 })).toContain('It was done before, and is not done again.');
    expect(await callAs({ order, amount: 21 })).toMatch(/externalId/);
    expect(desk.acts).toEqual([{ order, amount: 20 }]);
    // The ids of Claude are its own, and never the same.
    if (adapter === 'claude-agent') return;
    expect(await callAs({ order, amount: 20 }, { externalId: () => undefined })).toContain('refunded');
    expect(desk.acts).toHaveLength(2);
  });

  it('does not do again what a process had consumed that was ended before it acted', async () => {
    const params = { order: orderOf('ended'), amount: 20 };
    const one = { id: `call_${params.order}`, params };
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'adapters/ended.mjs'), adapter, JSON.stringify(one)],
      {
        env: { PATH: process.env.PATH, CONSIGLIERE_TOKEN: desk.token, CONSIGLIERE_BASE_URL: desk.proxy.url },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    try {
      const [said] = (await once(child.stdout, 'data')) as [Buffer];
      expect(said.toString()).toBe('consumed\n');
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    expect(await call('ended', 20)).toContain('It is not done again.');
    expect(desk.acts).toEqual([]);
    await desk.expectStatuses(orderOf('ended'), ['consumed']);
  });
});
