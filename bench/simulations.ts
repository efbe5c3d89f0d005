import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import {
  type DecidedPacket,
  type DecisionOrder,
  policyOf,
  policyOrders,
  recorded,
  storableContent,
} from '../src/features/standing-orders/decision-input.js';
import { evaluate } from '../src/features/standing-orders/evaluate.js';
import { newId } from '../src/platform/kernel/ids.js';
import { type Process, start } from './processes.js';
import { isQuick } from './size.js';
import { asOwner, type Workspace } from './workspaces.js';

const SIZES = isQuick ? [2_000, 20_000] : [10_000, 100_000];
/** So many different decisions, of which the others are copies. */
const PATTERNS = 250;
const ORDERS_IN_FORCE = 10;
const START = Date.UTC(2026, 0, 1);
/** About what a busy workspace decides in four months. */
const SECONDS_BETWEEN = 100;

/** Drafts that are about nothing, a part and all of what was decided. */
const DRAFTS = {
  'matches nothing': { actionTypes: ['webhook.post'] },
  'a domain, 20 a day and a budget': {
    actionTypes: ['email.send'],
    fields: { 'params.to': { $domainIn: ['acme.example'] } },
  },
  'matches everything': {},
};
const LIMITS = {
  limits: { maxPerHour: 5, maxPerDay: 20 },
  budget: { window: 'month', amount: 1_000, currency: 'EUR' },
};

export interface SimulationFigures {
  draft: string;
  decisions: number;
  seconds: number;
  /** How long the service itself computed; the database works beside it. */
  cpuSeconds: number;
  /** Resident memory of the service: before, and at its highest while it simulated. */
  beforeMb: number;
  peakMb: number;
  /** The slowest of the other requests meanwhile: how long the thread was held at the most. */
  slowestOtherMs: number;
}

/** Simulates orders over histories of two sizes, beside a client that asks whether the service is alive. */
export async function measureSimulations(
  environment: Record<string, string>,
  [small, large]: readonly [Workspace, Workspace],
): Promise<SimulationFigures[]> {
  const workspaces = [small, large].map((workspace, index) => ({ workspace, decisions: SIZES[index]! }));
  await asOwner(environment['DATABASE_URL']!, async (owner) => {
    for (const { workspace, decisions } of workspaces) await fill(owner, workspace.workspaceId, decisions);
    await owner.query('analyze policy_decisions');
  });
  const service = await start('../src/main.js', {
    ...environment,
    PROCESS_ROLE: 'api',
    RATE_LIMIT_STORE: 'memory',
  });
  try {
    const figures: SimulationFigures[] = [];
    for (const [draft, match] of Object.entries(DRAFTS)) {
      for (const { workspace, decisions } of workspaces) {
        const limited = draft.includes('budget') ? LIMITS : {};
        const order = { name: `${draft} ${decisions}`, effect: 'allow', match, ...limited };
        figures.push({ draft, decisions, ...(await simulate(service, workspace.token, order, decisions)) });
      }
    }
    return figures;
  } finally {
    await service.stop();
  }
}

/** Creating an order simulates it. */
async function simulate(
  service: Process,
  token: string,
  order: object,
  decisions: number,
): Promise<Omit<SimulationFigures, 'draft' | 'decisions'>> {
  const beforeMb = service.residentMb();
  let peakMb = beforeMb;
  let slowestOtherMs = 0;
  const done = new AbortController();
  const beside = (async () => {
    while (!done.signal.aborted) {
      const asked = performance.now();
      await (await fetch(`${service.url}/health/live`)).text();
      slowestOtherMs = Math.max(slowestOtherMs, performance.now() - asked);
      peakMb = Math.max(peakMb, service.residentMb());
      await pause(5);
    }
  })();
  const began = performance.now();
  const cpuBefore = cpuSeconds(service);
  const response = await fetch(`${service.url}/api/pro/standing-orders`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'x-service-token': token },
    body: JSON.stringify(order),
  });
  const { simulation } = (await response.json()) as { simulation?: { considered: number } };
  const seconds = (performance.now() - began) / 1000;
  const cpu = cpuSeconds(service) - cpuBefore;
  done.abort();
  await beside;
  if (simulation?.considered !== decisions) throw new Error(`it considered ${simulation?.considered}`);
  return { seconds, cpuSeconds: cpu, beforeMb, peakMb, slowestOtherMs };
}

/** What the process has computed so far; the kernel counts in hundredths of a second. */
function cpuSeconds({ pid }: Process): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function fill(owner: pg.Client, workspaceId: string, decisions: number): Promise<void> {
  const policy = policyOf(ordersInForce());
  await owner.query(
    'insert into policies (workspace_id, hash, orders, created_at) values ($1, $2, $3, now())',
    [workspaceId, policy.hash, JSON.stringify(policyOrders(policy))],
  );
  for (const { standingOrderId, name, effect, match, hash } of policy.orders) {
    await owner.query(
      `insert into standing_order_versions (workspace_id, standing_order_id, version, name, text, effect, match, hash, created_by, created_at)
       values ($1, $2, 1, $3, $3, $4, $5, $6, '{}', now())`,
      [workspaceId, standingOrderId, name, effect, JSON.stringify(match), hash],
    );
  }
  const patterns = Array.from({ length: PATTERNS }, (_, n) => {
    const input = {
      at: START,
      presence: 'away' as const,
      guardian: { mode: 'guardrailed' as const, epoch: 1 },
      packet: packetOf(n),
      orders: policy.orders,
      usage: {},
    };
    const decision = evaluate(input);
    return { n, decision, input: recorded(input), ...storableContent(input.packet) };
  });
  // Ids sort by the time of their decision, as those of the program do.
  await owner.query(
    `insert into policy_decisions (workspace_id, decision_id, work_packet_id, at, outcome, decision, input, target, params)
     select $1, 'dec_' || lpad(i::text, 26, '0'), 'pkt_' || lpad(i::text, 26, '0'), to_timestamp(t.at / 1000), p->'decision'->>'outcome',
       p->'decision', jsonb_set(p->'input', '{at}', to_jsonb(t.at)), p->>'target', p->'params'
     from generate_series(0, $2::int - 1) i
     cross join lateral (select $3::bigint + i * $4::bigint as at) t
     join jsonb_array_elements($5::jsonb) p on (p->>'n')::int = i % $6`,
    [workspaceId, decisions, START, SECONDS_BETWEEN * 1000, JSON.stringify(patterns), PATTERNS],
  );
}

function ordersInForce(): DecisionOrder[] {
  return Array.from({ length: ORDERS_IN_FORCE }, (_, n) => ({
    standingOrderId: newId('so'),
    version: 1,
    hash: String(n).padStart(64, '0'),
    name: `Order ${n}`,
    status: 'active',
    teamId: null,
    capos: null,
    effect: n % 2 === 0 ? 'require_approval' : 'allow',
    match: { actionTypes: ['email.send'], fields: { 'params.to': { $domainIn: [`customer${n}.example`] } } },
    when: null,
    limits: null,
    budget: null,
    approval: null,
    expiresAt: null,
  }));
}

function packetOf(n: number): DecidedPacket {
  const to = [`jane@${n % 2 === 0 ? 'acme' : `customer${n % 40}`}.example`];
  const isMail = n % 5 !== 0;
  return {
    workPacketId: null,
    capo: 'capo_ops',
    engine: 'ops',
    teamId: null,
    priority: 'medium',
    actionType: isMail ? 'email.send' : 'document.file',
    reversibility: isMail ? 'irreversible' : 'reversible',
    target: to.join(', '),
    params: { to, subject: `Delivery ${n}`, body: 'The delivery arrives on Friday. '.repeat(40) },
    recipients: 1,
    amount: n % 7 === 0 ? 10 : null,
    currency: n % 7 === 0 ? 'EUR' : null,
  };
}
