import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { call, inParallel, timed } from './calls.js';
import { type Process, start } from './processes.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces } from './workspaces.js';

const ROUNDS = isQuick ? 2 : 5;
const CALLS_PER_ROUND = isQuick ? 20 : 100;
const CALLS = ROUNDS * CALLS_PER_ROUND;
const WARM_UP = isQuick ? 10 : 100;
const DECISIONS = isQuick ? 10 : 50;
/** Agents that wait at once with one token. */
export const WAITING = isQuick ? 30 : 300;
/** More of one agent are refused. */
const PENDING_PER_AGENT = 100;
/** Active orders of the workspace, one of which allows the tool. */
export const ORDERS = 20;
/** All of them wait from one machine, within its limit of calls. */
const AGENTS_ADDRESS = '10.1.1.1';
/** Members who decide at once while all of them wait. */
const DECIDING = 8;
const PARAMS = { order: 'A-17', amount: 25, currency: 'EUR' };

/** What the service holds at one moment. */
export interface Held {
  residentMb: number;
  sockets: number;
  databaseConnections: number;
}

export interface ActionFigures {
  /** Milliseconds of each call, one after the other. */
  alone: {
    allowed: number[];
    /** Of a bare handler that writes the same rows in one statement, and decides nothing. */
    bare: number[];
    allowedAndConsumed: number[];
    consume: number[];
    result: number[];
  };
  /** Milliseconds from the COMMIT of a decision until the agent has its answer. */
  heard: { one: number[]; all: number[] };
  held: { before: Held; waiting: Held; after: Held };
  /** Processor time of the service in a second in which all of them wait. */
  cpuMsWaiting: number;
}

interface Asked {
  actionRequestId: string;
  status: string;
  paramsHash: string;
  approvalId: string | null;
}

/** Action requests of an agent with one token, whose tool a standing order allows, and of another tool that asks a person. */
export async function measureActions(environment: Record<string, string>): Promise<ActionFigures> {
  const service = await start('../src/main.js', { ...environment, RATE_LIMIT_STORE: 'memory' });
  const bare = await start('bare-handlers.js', environment);
  try {
    return await asOwner(environment['DATABASE_URL']!, async (owner) => {
      const [workspace] = await createWorkspaces(owner, 1);
      const agents = await prepare(service, workspace!.token);
      const bench = new ActionBench(owner, service, bare.url, workspace!.token, agents);
      await owner.query('analyze');
      return await bench.measure();
    });
  } finally {
    await bare.stop();
    await service.stop();
  }
}

/** Answers the tokens of the agents. */
async function prepare(service: Process, owner: string): Promise<string[]> {
  const post = <T>(path: string, body: object) => call<T>(`${service.url}/api/pro${path}`, owner, body);
  const properties = { order: { type: 'string' }, amount: { type: 'number' }, currency: { type: 'string' } };
  const tool = {
    paramsSchema: { type: 'object', properties, required: ['order', 'amount'], additionalProperties: false },
    ...{ amountPath: 'amount', currencyPath: 'currency', reversibility: 'reversible', risk: 'low' },
  };
  await post('/tools', { name: 'pay.invoice', ...tool });
  await post('/tools', { name: 'pay.asks', ...tool });
  for (let n = 0; n < ORDERS; n++) {
    const { standingOrderId, version } = await post<{ standingOrderId: string; version: number }>(
      '/standing-orders',
      {
        name: `Order ${n}`,
        effect: 'allow',
        match: {
          actionTypes: [n === 0 ? 'pay.invoice' : `pay.other${n}`],
          fields: { 'params.amount': { $lte: 50 } },
        },
        limits: { maxPerHour: 1_000_000, maxPerDay: 1_000_000 },
      },
    );
    await post(`/standing-orders/${standingOrderId}/activate`, { acknowledge: true, version });
  }
  const tokens: string[] = [];
  for (let n = 0; n < WAITING / PENDING_PER_AGENT; n++) {
    const agent = { name: `Agent ${n}` };
    tokens.push((await post<{ token: string }>('/tokens', { ...agent, agent, tools: ['pay.*'] })).token);
  }
  return tokens;
}

class ActionBench {
  constructor(
    private readonly database: pg.Client,
    private readonly service: Process,
    private readonly bareUrl: string,
    private readonly owner: string,
    private readonly agents: string[],
  ) {}

  async measure(): Promise<ActionFigures> {
    const alone = await this.alone();
    const one: number[] = [];
    while (one.length < DECISIONS) one.push(...(await this.decideWhileWaiting(1)).heard);
    const before = await this.held();
    const { heard: all, waiting, cpuMs } = await this.decideWhileWaiting(WAITING);
    const after = await this.held();
    return { alone, heard: { one, all }, held: { before, waiting, after }, cpuMsWaiting: cpuMs };
  }

  private async alone(): Promise<ActionFigures['alone']> {
    const allowed: Asked[] = [];
    const ask = async () => void allowed.push(await this.ask('pay.invoice', 'allowed'));
    const askAndConsume = () => this.ask('pay.invoice', 'consumed', { consume: true });
    const act = (path: string, bodyOf: (request: Asked) => object) => (index: number) => {
      const request = allowed[index]!;
      return this.post(`/action-requests/${request.actionRequestId}/${path}`, bodyOf(request));
    };
    const consume = act('consume', ({ paramsHash }) => ({
      attempt: randomBytes(16).toString('hex'),
      paramsHash,
    }));
    await timed(WARM_UP, ask);
    await timed(WARM_UP, consume);
    await timed(WARM_UP, askAndConsume);
    const { actionRequestId: like } = await this.ask('pay.invoice', 'allowed');
    const askBare = () =>
      call(`${this.bareUrl}/api/pro/action-requests`, this.agents[0]!, { params: { like } });
    await timed(WARM_UP, askBare);
    allowed.length = 0;
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(...(await timed(CALLS_PER_ROUND, ask)));
      bare.push(...(await timed(CALLS_PER_ROUND, askBare)));
    }
    return {
      allowed: ours,
      bare,
      allowedAndConsumed: await timed(CALLS, askAndConsume),
      consume: await timed(CALLS, consume),
      result: await timed(
        CALLS,
        act('result', () => ({ outcome: 'succeeded', summary: 'Paid.' })),
      ),
    };
  }

  /** So many agents wait, each for a request of its own; then members decide them all. */
  private async decideWhileWaiting(
    agents: number,
  ): Promise<{ heard: number[]; waiting: Held; cpuMs: number }> {
    const requests: (Asked & { agent: string })[] = [];
    let asked = 0;
    await inParallel(8, agents, async () => {
      const agent = this.agents[asked++ % this.agents.length]!;
      requests.push({ ...(await this.ask('pay.asks', 'pending', {}, agent)), agent });
    });
    const answered = requests.map(async ({ actionRequestId, agent }) => {
      const url = `${this.service.url}/api/pro/action-requests/${actionRequestId}?wait=30`;
      const { status } = await call<Asked>(url, agent, undefined, AGENTS_ADDRESS);
      const at = performance.timeOrigin + performance.now();
      if (status !== 'approved') throw new Error(`the agent heard "${status}"`);
      return at;
    });
    // Each of them has been looked up once, and waits.
    await pause(agents === 1 ? 50 : 2_000);
    const cpuBefore = this.cpuMs();
    const seconds = agents === 1 ? 0 : 5;
    await pause(seconds * 1_000);
    const cpuMs = (this.cpuMs() - cpuBefore) / seconds;
    const waiting = await this.held();
    const undecided = requests.map(({ approvalId }) => approvalId!);
    await inParallel(Math.min(DECIDING, agents), agents, () =>
      call(`${this.service.url}/api/pro/approvals/${undecided.pop()!}/approve`, this.owner, {}),
    );
    const times = await Promise.all(answered);
    const committed = await this.commitTimes(requests);
    return { heard: times.map((at, index) => at - committed[index]!), waiting, cpuMs };
  }

  private async commitTimes(requests: readonly Asked[]): Promise<number[]> {
    const { rows } = await this.database.query<{ at: number }>(
      `select (extract(epoch from pg_xact_commit_timestamp(a.xmin)) * 1000)::float8 as at
       from unnest($1::text[]) with ordinality r(id, n) join action_requests a on a.action_request_id = r.id order by n`,
      [requests.map(({ actionRequestId }) => actionRequestId)],
    );
    return rows.map(({ at }) => at);
  }

  /** User and system time of the process (proc_pid_stat(5)), in ticks of 10 ms. */
  private cpuMs(): number {
    const fields = readFileSync(`/proc/${this.service.pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  }

  private async held(): Promise<Held> {
    const { pid } = this.service;
    const { rows } = await this.database.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and application_name like 'consigliere%'`,
    );
    return {
      residentMb: this.service.residentMb(),
      sockets: readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length,
      databaseConnections: rows[0]!.n,
    };
  }

  private async ask(tool: string, status: string, more: object = {}, agent?: string): Promise<Asked> {
    const asked = await this.post<Asked>('/action-requests', { tool, params: PARAMS, ...more }, agent);
    if (asked.status !== status) throw new Error(`the request for ${tool} is ${asked.status}`);
    return asked;
  }

  private post<T>(path: string, body: object, agent = this.agents[0]!): Promise<T> {
    return call<T>(`${this.service.url}/api/pro${path}`, agent, body);
  }
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:');
  } catch {
    // It was closed meanwhile.
    return false;
  }
}
