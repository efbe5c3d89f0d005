import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import {
  AuthenticationError,
  ConnectionError,
  Consigliere,
  type Done,
  HaltedError,
  NotAnAgentToken,
  OutcomeUnknown,
  type Refused,
} from '@consigliere/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { AgentDesk, type Refund, TOOL } from './agent-desk.js';

let desk: AgentDesk;
beforeAll(async () => {
  desk = await AgentDesk.open();
});
afterEach(() => {
  vi.restoreAllMocks();
  desk.reset();
});
afterAll(() => desk?.close());

type Ran = Done<{ refunded: string }> | Refused;
const run = (params: Refund, options: object = {}, client = desk.agent): Promise<Ran> =>
  client.actions.run(TOOL, params, desk.refund, { reason: 'It came back.', ...options });
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
const isConsume = ({ path }: { path: string }) => path.endsWith('/consume');

describe('a guarded call', () => {
  it('that an order allows is done at once and reported', async () => {
    const ran = await run({ order: 'allowed', amount: 20 });
    expect(ran).toMatchObject({
      isDone: true,
      result: { refunded: 'allowed' },
      request: {
        status: 'completed',
        result: { summary: 'Refund allowed: done.', output: { refunded: 'allowed' } },
      },
    });
    expect(desk.acts).toEqual([{ order: 'allowed', amount: 20 }]);
    expect(desk.proxy.seen).toHaveLength(2);
  });

  it('that a person approves is done, with the parameters that they changed', async () => {
    const [ran, edited] = await Promise.all([
      run({ order: 'approved', amount: 200 }),
      run({ order: 'edited', amount: 300 }),
      desk.approve('approved'),
      desk.approveWith('edited', { order: 'edited', amount: 250 }),
    ]);
    expect(ran).toMatchObject({ isDone: true, request: { status: 'completed' } });
    expect(edited).toMatchObject({ isDone: true, request: { status: 'completed', params: { amount: 300 } } });
    expect(desk.acts.toSorted((a, b) => a.amount - b.amount)).toEqual([
      { order: 'approved', amount: 200 },
      { order: 'edited', amount: 250 },
    ]);
  });

  it('that is refused does nothing, and is told to the model', async () => {
    const [rejected] = await Promise.all([
      desk.agent.actions.guard(TOOL, desk.refund)({ order: 'rejected', amount: 200 }),
      desk.reject('rejected', 'They have had it already.'),
    ]);
    expect(rejected).toBe('A person rejected this. It was not done. They said: They have had it already.');
    const denied = await run({ order: 'denied', amount: 5_000 });
    expect(denied).toMatchObject({
      isDone: false,
      status: 'denied',
      text: expect.stringContaining('The standing orders do not allow this'),
    });
    expect(desk.acts).toEqual([]);
  });

  it('on which nobody decides does nothing, and is taken back unless it has a name', async () => {
    const [expired] = await Promise.all([run({ order: 'expired', amount: 200 }), desk.letExpire('expired')]);
    expect(expired).toMatchObject({ isDone: false, status: 'expired' });
    desk.test.clock.goOn();
    expect(await run({ order: 'slow', amount: 200 }, { timeout: 300 })).toMatchObject({
      status: 'pending',
      text: 'Nobody has decided in time. It was not done.',
    });
    await desk.expectStatuses('slow', ['cancelled']);
    const named = () => run({ order: 'named', amount: 200 }, { timeout: 300, externalId: 'named' });
    expect(await named()).toMatchObject({
      text: expect.stringContaining('The same call again goes on waiting.'),
    });
    await desk.approve('named');
    expect(await named()).toMatchObject({ isDone: true });
    expect(await named()).toMatchObject({
      isDone: false,
      status: 'completed',
      text: expect.stringContaining('{"refunded":"named"}'),
    });
    expect(desk.acts).toHaveLength(1);
  });

  it('is taken back when the signal ends the waiting', async () => {
    const leave = new AbortController();
    const waiting = failureOf(run({ order: 'left', amount: 200 }, { signal: leave.signal }));
    await desk.waiting('left');
    leave.abort(new Error('The person left.'));
    expect(await waiting).toMatchObject({ message: 'The person left.' });
    await desk.expectStatuses('left', ['cancelled']);
    expect(desk.acts).toEqual([]);
  });

  it('does nothing once the kill switch is engaged, while it waits or before it asks', async () => {
    const waiting = run({ order: 'killed', amount: 200 });
    await desk.waiting('killed');
    await desk.approveThenKill('killed');
    try {
      expect(await waiting).toMatchObject({ isDone: false });
      expect(await failureOf(run({ order: 'after the kill', amount: 20 }))).toBeInstanceOf(HaltedError);
      expect(desk.acts).toEqual([]);
    } finally {
      await desk.revert();
    }
  });

  it('does nothing with a token that was revoked, or that is a member’s', async () => {
    const made = await desk.admin.tokens.create({ name: 'Gone', agent: { name: 'Gone' }, tools: ['shop.*'] });
    const gone = new Consigliere({ baseUrl: desk.proxy.url, token: made.token });
    const waiting = failureOf(run({ order: 'revoked', amount: 200 }, {}, gone)) as Promise<
      object | undefined
    >;
    await desk.waiting('revoked');
    await desk.admin.tokens.revoke(made.tokenId);
    // Whichever comes first.
    expect([undefined, AuthenticationError]).toContain((await waiting)?.constructor);
    await desk.expectStatuses('revoked', ['cancelled']);
    expect(await failureOf(run({ order: 'member', amount: 20 }, {}, desk.admin))).toBeInstanceOf(
      NotAnAgentToken,
    );
    expect(await failureOf(run({ order: 'member', amount: 200 }, {}, desk.admin))).toBeInstanceOf(
      NotAnAgentToken,
    );
    await desk.expectStatuses('member', ['failed', 'cancelled']);
    expect(desk.acts).toEqual([]);
  });
});

describe('over a bad network, a guarded call', () => {
  it('does nothing while the service cannot be reached, whichever step is next', async () => {
    desk.fault = () => 'reset';
    expect(await failureOf(run({ order: 'unreachable', amount: 20 }))).toBeInstanceOf(ConnectionError);
    desk.fault = (seen) => (isConsume(seen) ? 'reset' : undefined);
    const waiting = failureOf(run({ order: 'unreachable later', amount: 200 }));
    await desk.approve('unreachable later');
    expect(await waiting).toBeInstanceOf(ConnectionError);
    expect(desk.acts).toEqual([]);
  });

  it('is done once where the answers to asking and to consuming are lost', async () => {
    let left = 2;
    desk.fault = ({ path }) => (path.endsWith('/action-requests') && left-- > 0 ? 'lost answer' : undefined);
    expect(await run({ order: 'lost', amount: 20 })).toMatchObject({ isDone: true });
    left = 2;
    desk.fault = (seen) => (isConsume(seen) && left-- > 0 ? 'lost answer' : undefined);
    const [approved] = await Promise.all([
      run({ order: 'lost later', amount: 200 }),
      desk.approve('lost later'),
    ]);
    expect(approved).toMatchObject({ isDone: true });
    expect(desk.acts).toHaveLength(2);
  });

  it('waits on while the service is away for longer than other calls are tried again', async () => {
    let left = 5;
    desk.fault = ({ path }) =>
      /\/act_\w+(\?|$)/.test(path) && left-- > 0
        ? { status: 503, headers: { 'Retry-After': '0' } }
        : undefined;
    const [ran] = await Promise.all([run({ order: 'restarted', amount: 200 }), desk.approve('restarted')]);
    expect([ran.isDone, left < 1]).toEqual([true, true]);
    expect(desk.acts).toHaveLength(1);
  });

  it('is done and says so where that cannot be reported', async () => {
    desk.fault = ({ path }) => (path.endsWith('/result') ? 'reset' : undefined);
    const ran = await run({ order: 'unreported', amount: 20 });
    expect(ran).toMatchObject({ isDone: true, request: { status: 'consumed' } });
    expect(desk.acts).toHaveLength(1);
  });

  it('is not begun too late, by a clock that nobody sets', async () => {
    const now = performance.now.bind(performance);
    desk.fault = () => {
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 31_000);
      return undefined;
    };
    const ran = await run({ order: 'late', amount: 20 });
    vi.restoreAllMocks();
    expect(ran).toMatchObject({
      isDone: false,
      status: 'failed',
      text: 'It was too late to begin, so it was not done.',
    });
    await desk.expectStatuses('late', ['failed']);
    expect(desk.acts).toEqual([]);
  });

  it('whose tool answers nothing has an unknown outcome, and is not done again', async () => {
    const named = (order: string) => failureOf(run({ order, amount: 20 }, { externalId: order }));
    desk.instead = (response) => response.socket!.resetAndDestroy();
    const lost = await named('tool-lost');
    expect(lost).toBeInstanceOf(OutcomeUnknown);
    expect(lost).toMatchObject({ actionRequestId: expect.stringMatching(/^act_/), cause: expect.anything() });
    desk.instead = (response) => response.writeHead(502).end();
    expect(await named('tool-failed')).toBeInstanceOf(OutcomeUnknown);
    desk.instead = undefined;
    expect(await named('tool-lost')).toBeInstanceOf(OutcomeUnknown);
    expect(await named('tool-failed')).toBeInstanceOf(OutcomeUnknown);
    expect(desk.acts).toEqual([]);
    await desk.expectStatuses('tool-lost', ['consumed']);
  });

  it.each([
    ['axios', Object.assign(new Error('timeout of 1000ms exceeded'), { code: 'ECONNABORTED' })],
    ['Bun', Object.assign(new Error('The socket connection was closed.'), { code: 'ConnectionClosed' })],
    ['workerd', new Error('Network connection lost.')],
    ['Chrome', new TypeError('Failed to fetch')],
    ['gRPC', Object.assign(new Error('4 DEADLINE_EXCEEDED: Deadline exceeded'), { code: 4 })],
  ])('whose connection is lost as %s says it has an unknown outcome', async (name, lost) => {
    const act = () => Promise.reject(lost);
    const again = () => desk.agent.actions.run(TOOL, { order: name, amount: 20 }, act, { externalId: name });
    expect(await failureOf(again())).toBeInstanceOf(OutcomeUnknown);
    expect(await failureOf(again())).toBeInstanceOf(OutcomeUnknown);
    await desk.expectStatuses(name, ['consumed']);
  });

  it('that could not be sent, or fails by the words of the tool, is reported as failed', async () => {
    class Declined extends Error {}
    const refused = { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) };
    const errors = [new TypeError('fetch failed', refused), new Declined('The bank says: connection lost.')];
    for (const error of errors) {
      const act = () => Promise.reject(error);
      expect(await failureOf(desk.agent.actions.run(TOOL, { order: 'refused', amount: 20 }, act))).toBe(
        error,
      );
    }
    await desk.expectStatuses('refused', ['failed', 'failed']);
  });

  it('that fails is reported as failed, in words that the service takes', async () => {
    const failing = desk.agent.actions.run(TOOL, { order: 'failing', amount: 20 }, () => {
      throw new Error(`No such order\0: ${'x'.repeat(600)}`);
    });
    expect(await failureOf(failing)).toMatchObject({ message: expect.stringContaining('No such order') });
    const [request] = await desk.requests('failing');
    expect(request).toMatchObject({
      status: 'failed',
      result: { summary: expect.stringMatching(/^No such order: x{480}/) },
    });
    const odd = await desk.agent.actions.run(TOOL, { order: 'odd', amount: 20 }, () => ({ text: 'a\0b' }));
    expect(odd).toMatchObject({ isDone: true, request: { status: 'completed', result: { output: null } } });
    const large = await desk.agent.actions.run(TOOL, { order: 'large', amount: 20 }, () =>
      '漢'.repeat(9_000),
    );
    expect(large).toMatchObject({
      request: { result: { output: { beginning: expect.stringContaining('漢') } } },
    });
  });
});

it('is never done by a second run when a process was ended between consuming and acting', async () => {
  const params = { order: 'ended', amount: 20 };
  const args = [join(import.meta.dirname, 'guarded-process.mjs'), TOOL, JSON.stringify(params), 'ended'];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, CONSIGLIERE_TOKEN: desk.token, CONSIGLIERE_BASE_URL: desk.proxy.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    expect(said.toString()).toBe('consumed\n');
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  expect(await failureOf(run(params, { externalId: 'ended' }))).toBeInstanceOf(OutcomeUnknown);
  expect(desk.acts).toEqual([]);
  await desk.expectStatuses('ended', ['consumed']);
});
