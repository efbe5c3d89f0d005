import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { call } from './calls.js';
import { type Cost, Meter } from './meter.js';
import { start } from './processes.js';
import { isQuick } from './size.js';
import { startMailReceiver } from './soak/mail-receiver.js';
import { asOwner, createWorkspaces, type Workspace } from './workspaces.js';

/** Acts of the smaller and of the larger run; what they differ by is divided by how many more the larger has. */
const [FEW, MANY] = isQuick ? ([40, 160] as const) : ([200, 1_200] as const);
const REPEATS = 2;
/** So many directives has the day of each workspace. */
export const DIRECTIVES_A_DAY = 10;
const AT_ONCE = 8;
const IDLE_SECONDS = isQuick ? ([2, 8] as const) : ([5, 35] as const);
const TEXT = 'Email jane@acme.example, subject "Your order": Your order ships on Friday.';

const ACTS = {
  handIn: 'a hand-in',
  draft: 'its draft (routing, drafting, the policy decision)',
  approval: 'an approval',
  mail: 'a mail that is sent',
  event: 'revenue recorded, with one destination that hears of it',
  delivery: 'a delivery to a destination',
  report: `a Daily Report of ${DIRECTIVES_A_DAY} directives, mailed`,
} as const;
type Act = keyof typeof ACTS;

/** What each act cost, in each of two measurements. */
export interface CostFigures {
  /** By what it is. */
  acts: Record<string, Cost[]>;
  /** A second in which a process finds nothing to do. */
  idle: Record<'api' | 'worker', Cost[]>;
  receiptsADay: number;
}

/** Measures what single acts cost, in an otherwise idle database. */
export async function measureCosts(environment: Record<string, string>): Promise<CostFigures> {
  const mails = await startMailReceiver();
  const receiver = await startReceiver();
  const settings = { ...environment, SMTP_URL: mails.url, OUTBOUND_ALLOW: receiver.hostPort };
  try {
    return await asOwner(environment['DATABASE_URL']!, async (owner) => {
      const bench = new CostBench(
        owner,
        settings,
        new Meter(owner, settings, join(environment['DATA_DIR']!, 'counts.json')),
        receiver.hostPort,
      );
      return bench.measure();
    });
  } finally {
    receiver.close();
    await mails.close();
  }
}

class CostBench {
  #receiptsADay = 0;

  constructor(
    private readonly owner: pg.Client,
    private readonly environment: Record<string, string>,
    private readonly meter: Meter,
    private readonly receiver: string,
  ) {}

  async measure(): Promise<CostFigures> {
    const acts: Record<string, Cost[]> = {};
    const idle: CostFigures['idle'] = { api: [], worker: [] };
    // What only the first process over a database does.
    await this.meter.of('worker', () => pause(IDLE_SECONDS[0] * 1_000));
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      for (const role of ['api', 'worker'] as const) {
        const [short, long] = IDLE_SECONDS;
        const less = await this.meter.of(role, () => pause(short * 1_000));
        idle[role].push(each(less, await this.meter.of(role, () => pause(long * 1_000)), long - short));
      }
      const few = await this.run(FEW);
      const many = await this.run(MANY);
      for (const [act, what] of Object.entries(ACTS) as [Act, string][]) {
        const idleOf = idle[few[act].role].at(-1)!;
        const times = many[act].count - few[act].count || 1;
        (acts[what] ??= []).push(each(few[act].cost, many[act].cost, times, idleOf));
      }
    }
    return { acts, idle, receiptsADay: this.#receiptsADay };
  }

  /** The day of so many directives, in workspaces of their own: each act by itself, all of one kind after those before. */
  private async run(count: number) {
    const workspaces = await createWorkspaces(this.owner, count / DIRECTIVES_A_DAY);
    const ids = workspaces.map(({ workspaceId }) => workspaceId);
    // No report is made before it is measured.
    await this.owner.query(`update report_configs set due_at = 'infinity' where workspace_id = any($1)`, [
      ids,
    ]);
    const of = (index: number) => workspaces[index % workspaces.length]!;
    const nothingDue = () =>
      this.meter.until(
        'select not exists (select from work_items where claimed or due_at <= now()) as is_so',
      );
    const all = (what: string) =>
      this.meter.until(`select count(*) = $2 as is_so from ${what} and workspace_id = any($1)`, [ids, count]);
    const approvals: { approvalId: string; token: string }[] = [];

    const handIn = await this.meter.of('api', (url) =>
      atOnce(count, async (index) => {
        const { token } = of(index);
        const body = { text: TEXT };
        const { approvalId } = await call<{ approvalId: string }>(`${url}/api/pro/directive`, token, body);
        approvals.push({ approvalId, token });
      }),
    );
    const draft = await this.meter.of('worker', async () => {
      await all(`approvals where ready and status = 'pending'`);
      await nothingDue();
    });
    const approval = await this.meter.of('api', (url) =>
      atOnce(count, async (index) => {
        const { approvalId, token } = approvals[index]!;
        await call(`${url}/api/pro/approvals/${approvalId}/approve`, token, {});
      }),
    );
    const mail = await this.meter.of('worker', async () => {
      await all(`work_packets where status = 'executed'`);
      await nothingDue();
    });
    await this.addDestinations(workspaces);
    const event = await this.meter.of('api', (url) =>
      atOnce(count, async (index) => {
        const body = { amount: 1, currency: 'USD', source: 'bench' };
        await call(`${url}/api/pro/revenue-events`, of(index).token, body);
      }),
    );
    const delivery = await this.meter.of('worker', async () => {
      await all(`webhook_deliveries where status = 'delivered'`);
      await nothingDue();
    });
    await this.becomeYesterday(ids);
    const report = await this.meter.of('worker', async () => {
      await this.meter.until(
        `select count(*) = $2 as is_so from reports
         where delivery_status = 'sent' and announced_at is not null and workspace_id = any($1)`,
        [ids, ids.length],
      );
      await nothingDue();
    });
    return {
      handIn: { role: 'api', count, cost: handIn },
      draft: { role: 'worker', count, cost: draft },
      approval: { role: 'api', count, cost: approval },
      mail: { role: 'worker', count, cost: mail },
      event: { role: 'api', count, cost: event },
      delivery: { role: 'worker', count, cost: delivery },
      report: { role: 'worker', count: ids.length, cost: report },
    } as const satisfies Record<Act, { role: 'api' | 'worker'; count: number; cost: Cost }>;
  }

  private async addDestinations(workspaces: readonly Workspace[]): Promise<void> {
    const api = await start('../src/main.js', { ...this.environment, PROCESS_ROLE: 'api' });
    try {
      await atOnce(workspaces.length, async (index) => {
        await call(`${api.url}/api/pro/webhooks`, workspaces[index]!.token, {
          event: 'revenue.recorded',
          url: `http://${this.receiver}/`,
          secret: 'a secret of the benchmark',
        });
      });
    } finally {
      await api.stop();
    }
  }

  /** Their reports of yesterday are due, and what was done today has been done then. */
  private async becomeYesterday(ids: readonly string[]): Promise<void> {
    await this.owner.query('set session_replication_role = replica');
    await this.owner.query(`update receipts set at = at - interval '1 day' where workspace_id = any($1)`, [
      ids,
    ]);
    await this.owner.query('set session_replication_role = origin');
    const { rows } = await this.owner.query<{ n: number }>(
      'select count(*)::float8 / $2 as n from receipts where workspace_id = any($1)',
      [ids, ids.length],
    );
    this.#receiptsADay = rows[0]!.n;
    await this.owner.query(
      `update workspaces set created_at = created_at - interval '3 days' where workspace_id = any($1)`,
      [ids],
    );
    await this.owner.query(
      `update report_configs set email = true, email_address = 'reports@acme.example', time = '00:00', due_at = now(),
         last_date = to_char(now() at time zone 'UTC' - interval '2 days', 'YYYY-MM-DD') where workspace_id = any($1)`,
      [ids],
    );
  }
}

/** What the larger run cost more than the smaller, without what the process does anyway, for each of `times`. */
function each(few: Cost, many: Cost, times: number, idle?: Cost): Cost {
  const seconds = many.seconds - few.seconds;
  const names = Object.keys(many) as (keyof Cost)[];
  return Object.fromEntries(
    names.map((name) => [name, (many[name] - few[name] - (idle ? idle[name] * seconds : 0)) / times]),
  ) as unknown as Cost;
}

async function atOnce(count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await act(next++);
    }),
  );
}

/** Answers 200 to whatever comes. */
async function startReceiver(): Promise<{ hostPort: string; close(): void }> {
  const server = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    hostPort: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close().closeAllConnections(),
  };
}
