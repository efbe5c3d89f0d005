import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  consumeAtOnce,
  consumeWhileKilled,
  type Racing,
  setUpAgent,
} from '../e2e/action-requests/consume-races.js';
import { endExamples, Example } from '../e2e/agents/example-process.js';
import { atOnce } from '../support/at-once.js';
import { Client } from '../support/client.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';
import { TestClock } from '../support/test-clock.js';

const KILLS = 5;
const RACING = 1_000;
/** How often a process is ended at each moment of each step, on each side. */
const ROUNDS = 2;
const GUARDS_AT_ONCE = 4;
/** A guard that was ended, or got no answer, is run again under the same id. */
const RUNS = 8;
const COMPLETE_WITHIN_MS = 900_000;

const SIDES = ['service', 'agent'] as const;
/** `decide` is a person's step; in `act` the agent calls the tool. */
const STEPS = ['ask', 'wait', 'decide', 'consume', 'act', 'result'] as const;
const MOMENTS = ['before', 'during', 'after'] as const;
const ENDS = ['completed', 'failed', 'consumed', 'unconfirmed', 'rejected', 'expired', 'cancelled'];

type Step = (typeof STEPS)[number];

/** Which process is ended (SIGKILL), while which step of this order is on its way. */
interface Plan {
  order: string;
  amount: number;
  side: (typeof SIDES)[number];
  step: Step;
  moment: (typeof MOMENTS)[number];
}

/** An order that is being worked on, and the address at which its guard finds Consigliere and the tool. */
interface Underway {
  plan: Plan;
  guard?: Example;
  isDone: boolean;
}

const figures: Record<string, unknown> = {};
const clock = new TestClock();
const replacements: Promise<void>[] = [];
/** Where each process listens: what it says itself is PUBLIC_URL. */
const addresses = new Map<ServiceProcess, string>();
const underway = new Map<string, Underway>();
let service: Service;
let racing: Racing;
let entry: Server;
let folder: string;
let tool: Example;
let toolUrl: string;

const alive = () => [...addresses.keys()].filter(({ exited }) => !exited);
const anyAddress = () => addresses.get(alive()[randomInt(alive().length)]!)!;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-permits-'));
  // The address that stays while the processes behind it come and go.
  entry = between((request) => forward(request, anyAddress()));
  const url = await listening(entry);
  const port = await freePort();
  service = await startService(1, { PUBLIC_URL: url, PORT: port });
  addresses.set(service.processes[0]!, `http://127.0.0.1:${port}`);
  await Promise.all([startOneMore(), startOneMore()]);
  await clock.share(service.database.owner, `actions-${process.pid}`);
  racing = {
    owner: () => service.client(),
    clientOf: (token) => new Client(anyAddress(), token),
    rows: service.rows,
  };
  tool = new Example(process.execPath, 'tool-server.ts', [], {
    CONSIGLIERE_URL: url,
    WORKSPACE_ID: service.workspaceId,
    USED_PERMITS: folder,
    PORT: '0',
  });
  const [line] = await eventually(
    async () => tool.lines,
    ({ length }) => length > 0,
  );
  toolUrl = line!.replace('The tool listens on ', '');
}, 120_000);
afterAll(async () => {
  console.table(figures);
  await endExamples();
  await Promise.allSettled(replacements);
  entry.closeAllConnections();
  entry.close();
  await service.close();
  clock.end();
  await rm(folder, { recursive: true, force: true });
});

it(`of ${RACING} consumes that race a kill over three processes none comes after its COMMIT`, async () => {
  const token = await setUpAgent(racing);
  for (let kill = 1; kill <= KILLS; kill++)
    figures[`kill ${kill}`] = await consumeWhileKilled(racing, token, RACING);
  expect(await consumeAtOnce(racing, token, 100)).toEqual({ toMany: 1, toOne: 100 });
  await expectSound();
});

it('a process ended at any step, of the service or the agent, loses no request and has none acted on twice', async () => {
  const token = await setUpRefunds();
  const plans = everyPlan();
  const deciding = new AbortController();
  const decided = decideWhatWaits(deciding.signal);
  await atOnce(GUARDS_AT_ONCE, plans, (plan) => guardUntilItEnds(plan, token));
  deciding.abort();
  await decided;
  await Promise.all(replacements);

  const acts = tool.lines
    .filter((line) => line.startsWith('refund '))
    .map((line) => JSON.parse(line.slice('refund '.length)).order as string);
  expect(new Set(acts).size).toBe(acts.length);
  // Each by a permit of its own.
  expect((await readdir(folder)).length).toBe(acts.length);
  const asked = await requests();
  expect(asked.map(({ order }) => order).toSorted()).toEqual(plans.map(({ order }) => order).toSorted());
  expect(asked.filter(({ status }) => !['completed', 'consumed'].includes(status))).toEqual([]);
  for (const { order, status } of asked) if (status === 'completed') expect(acts).toContain(order);

  const unknown = asked.filter(({ status }) => status === 'consumed').map(({ id }) => id);
  clock.advance(COMPLETE_WITHIN_MS + 1_000);
  const after = await eventually(requests, (all) => all.every(({ status }) => status !== 'consumed'), 60);
  expect(idsWith(after, 'unconfirmed')).toEqual(unknown.toSorted());
  const told = await service.rows<{ id: string }>(
    `select entity_id as id from escalations where kind = 'action_unconfirmed' and status = 'open'
       and entity_id = any($1)`,
    [after.map(({ id }) => id)],
  );
  expect(told.map(({ id }) => id).toSorted()).toEqual(unknown.toSorted());
  Object.assign(figures, {
    'requests, each with a process ended at one step': plans.length,
    'processes of the service ended': replacements.length,
    'acts of the tool': acts.length,
    completed: idsWith(after, 'completed').length,
    'unconfirmed, each with an escalation': unknown.length,
    'of these, done by the tool': after.filter(
      ({ order, status }) => status === 'unconfirmed' && acts.includes(order),
    ).length,
  });
  await expectSound();
});

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Passes answers on; one that is lost breaks the connection. */
function between(pass: (request: IncomingMessage) => Promise<Response | undefined>): Server {
  return createServer((request, response) => {
    const passOn = async () => {
      const answer = await pass(request);
      if (!answer) throw new Error('lost');
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
    };
    passOn().catch(() => response.destroy());
  });
}

async function freePort(): Promise<string> {
  const server = createServer();
  const { port } = new URL(await listening(server));
  server.close();
  await once(server, 'close');
  return port;
}

async function startOneMore(): Promise<void> {
  const port = await freePort();
  addresses.set(await service.start({ PORT: port }), `http://127.0.0.1:${port}`);
}

async function forward(request: IncomingMessage, to: string, address?: string): Promise<Response> {
  const { 'x-service-token': token, authorization } = request.headers as Record<string, string | undefined>;
  const body = await buffer(request);
  return fetch(to + request.url, {
    method: request.method!,
    headers: {
      'Content-Type': 'application/json',
      'X-Forwarded-For': address ?? String(request.headers['x-forwarded-for']),
      ...(token && { 'x-service-token': token }),
      ...(authorization && { authorization }),
    },
    ...(body.length > 0 && { body }),
  });
}

/** A refund of up to 50 is allowed by an order; for more, a person is asked. */
async function setUpRefunds(): Promise<string> {
  const { owner } = racing;
  const properties = { order: { type: 'string' }, amount: { type: 'number' } };
  const made = await owner().post('/tools', {
    name: 'crm.refund',
    paramsSchema: { type: 'object', properties, required: ['order', 'amount'] },
    reversibility: 'reversible',
    risk: 'low',
    titleTemplate: 'Refund {{order}}',
  });
  expect(made.status, made.text).toBe(201);
  const order = await owner().post('/standing-orders', {
    name: 'Small refunds',
    effect: 'allow',
    match: { actionTypes: ['crm.refund'], fields: { 'params.amount': { $lte: 50 } } },
  });
  const { standingOrderId, version } = order.body;
  const path = `/standing-orders/${standingOrderId}/activate`;
  const active = await owner().post(path, { acknowledge: true, version });
  expect(active.body.status, active.text).toBe('active');
  const token = await owner().post('/tokens', {
    name: 'Refunds',
    agent: { name: 'Refunds' },
    tools: ['crm.*'],
  });
  return token.body.token;
}

/** Every moment of every step on both sides; half of the requests are allowed by the order, where nobody has to decide. */
function everyPlan(): Plan[] {
  const plans = Array.from({ length: ROUNDS }, (_, round) =>
    SIDES.flatMap((side) =>
      STEPS.flatMap((step) => MOMENTS.map((moment) => ({ round, side, step, moment }))),
    ),
  ).flat();
  return plans.map(({ round, ...plan }, index) => {
    const asks = plan.step === 'wait' || plan.step === 'decide' || round % 2 === 1;
    return { ...plan, order: `R-${index}`, amount: asks ? 900 : 25 };
  });
}

/** Runs the guard, again after each end that is not one of the request's, and ends a process as planned. */
async function guardUntilItEnds(plan: Plan, token: string): Promise<void> {
  const order: Underway = { plan, isDone: false };
  underway.set(plan.order, order);
  const { address } = new Client(toolUrl, undefined);
  const server = between((request) => {
    const step = stepOf(request);
    const to = () => (step === 'act' ? toolUrl : anyAddress());
    return strike(order, step, (url) => forward(request, url ?? to(), address));
  });
  const url = await listening(server);
  const params = JSON.stringify({ order: plan.order, amount: plan.amount });
  try {
    let said = '';
    for (let run = 0; run < RUNS; run++) {
      order.guard = new Example(
        process.execPath,
        'guard.ts',
        [plan.order, 'crm.refund', params, 'It came back.'],
        { CONSIGLIERE_URL: url, CONSIGLIERE_TOKEN: token, TOOL_URL: url },
      );
      said = (await order.guard.ended).output;
      if (ENDS.includes(said)) {
        expect(order.isDone, `${JSON.stringify(plan)} was not carried out`).toBe(true);
        return;
      }
    }
    throw new Error(`${JSON.stringify(plan)} did not end: ${said}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function stepOf({ url = '' }: IncomingMessage): Step {
  if (url.endsWith('/crm.refund')) return 'act';
  if (url.includes('?wait=')) return 'wait';
  if (url.endsWith('/consume')) return 'consume';
  return url.endsWith('/result') ? 'result' : 'ask';
}

/**
 * Passes a step on, and ends the planned process before, during or after it, once. Answers nothing where the answer is lost. The
 * service's process that is ended is the one that has the step, or, while the tool acts, any.
 */
async function strike(
  order: Underway,
  step: Step,
  pass: (url?: string) => Promise<Response>,
): Promise<Response | undefined> {
  const { plan } = order;
  if (order.isDone || plan.step !== step) return pass();
  order.isDone = true;
  const victim = plan.side === 'service' ? await replaceable() : undefined;
  const end = () => (victim ? victim.kill() : order.guard!.kill());
  if (plan.moment === 'before') await end();
  const passing = pass(victim && step !== 'act' ? addresses.get(victim) : undefined);
  if (plan.moment === 'before') return passing;
  if (plan.moment === 'during') {
    await Promise.all([passing.catch(() => undefined), pause(randomInt(12)).then(end)]);
    return passing;
  }
  // A wait has no answer before the decision; what is ended then is ended while it waits.
  await Promise.race([passing.catch(() => undefined), ...(step === 'wait' ? [pause(500)] : [])]);
  await end();
  return undefined;
}

/** A process that is ended in a moment; another will stand in for it, and at least one answers meanwhile. */
async function replaceable(): Promise<ServiceProcess> {
  const processes = await eventually(
    async () => alive().filter((one) => !doomed.has(one)),
    ({ length }) => length > 1,
    60,
  );
  const victim = processes[randomInt(processes.length)]!;
  doomed.add(victim);
  replacements.push(startOneMore());
  return victim;
}
const doomed = new Set<ServiceProcess>();

/** A person approves what waits, and asks again where the answer was lost. */
async function decideWhatWaits(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { body } = await service
      .client()
      .get('/approvals?status=pending')
      .catch(() => ({ body: { items: [] } }));
    for (const { approvalId, title } of body.items as { approvalId: string; title: string }[]) {
      const order = underway.get(title.replace('Refund ', ''))!;
      // An agent that is to be ended while it waits waits first.
      if (order.plan.step === 'wait' && !order.isDone) continue;
      const path = `/api/pro/approvals/${approvalId}/approve`;
      const headers = { 'x-service-token': service.token, 'X-Forwarded-For': service.client().address };
      await strike(order, 'decide', (url = anyAddress()) =>
        fetch(url + path, { method: 'POST', headers }),
      ).catch(() => undefined);
    }
    await pause(50);
  }
}

function requests(): Promise<{ id: string; order: string; status: string }[]> {
  return service.rows(
    `select action_request_id as id, external_id as order, status from action_requests where tool = 'crm.refund'
     order by action_request_id`,
  );
}

function idsWith(all: Awaited<ReturnType<typeof requests>>, status: string): string[] {
  return all.filter((one) => one.status === status).map(({ id }) => id);
}

/** No process met what it had not reckoned with, and the log is whole. */
async function expectSound(): Promise<void> {
  for (const { logs, errors } of service.processes) {
    expect(errors).toBe('');
    expect(logs.filter(({ level }) => (level as number) >= 50)).toEqual([]);
  }
  const { body } = await service.client().get('/audit-feed/verify');
  expect(body).toMatchObject({ ok: true, faults: [] });
}
