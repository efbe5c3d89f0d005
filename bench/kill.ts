import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { contentHash } from '../src/features/directives/packets/work-packet.js';
import { newId } from '../src/platform/kernel/ids.js';
import { call, timed } from './calls.js';
import { type Process, start } from './processes.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces, type Workspace } from './workspaces.js';

const PROCESSES = 3;
const KILLS = isQuick ? 3 : 20;
/** Work packets that race a kill. */
export const RACING = isQuick ? 200 : 1_000;

/** Approvals that wait while a kill is engaged. */
const WAITING = isQuick ? [100, 1_000] : [100, 10_000, 100_000];
const KILLS_OVER_WAITING = 7;

export interface KillFigures {
  /** Milliseconds from the request until the kill has committed. */
  toCommit: number[];
  /** From then until the last work packet that was under way, in any process, is recorded as ended; 0 where none was. */
  toStop: number[];
  /** How many dispatches began after a kill had committed. */
  dispatchesAfter: number;
  /** What `GET /audit-feed/verify` finds in the receipts of them all. */
  inReceipts: number;
}

/**
 * Kills while three processes send, from other moments each time. What came first is noted by the database, with its
 * clock, at the end of each transaction, so that no process is asked about itself.
 */
export async function measureKills(environment: Record<string, string>): Promise<KillFigures> {
  return asOwner(environment['DATABASE_URL']!, async (owner) => {
    const [workspace] = await createWorkspaces(owner, 1);
    await owner.query(WITNESS);
    const processes: Process[] = [];
    try {
      while (processes.length < PROCESSES) {
        processes.push(await start('../src/main.js', { ...environment, RATE_LIMIT_STORE: 'memory' }));
      }
      return await new KillBench(owner, workspace!, processes).measure();
    } finally {
      await Promise.all(processes.map((one) => one.stop()));
    }
  });
}

/** Milliseconds of a kill, from the request to its answer, while so many approvals wait for a person. */
export async function measureKillsOverWaiting(
  environment: Record<string, string>,
): Promise<Record<string, number[]>> {
  return asOwner(environment['DATABASE_URL']!, async (owner) => {
    const service = await start('../src/main.js', { ...environment, RATE_LIMIT_STORE: 'memory' });
    try {
      const measured: Record<string, number[]> = {};
      for (const count of WAITING) {
        const [{ workspaceId, token }] = (await createWorkspaces(owner, 1)) as [Workspace];
        await owner.query(APPROVALS, [workspaceId, count]);
        await owner.query('vacuum analyze approvals');
        const api = `${service.url}/api/pro/guardian`;
        const times: number[] = [];
        for (let n = 0; n < KILLS_OVER_WAITING; n++) {
          times.push(...(await timed(1, () => call(`${api}/kill-switch`, token, { reason: 'bench' }))));
          await call(`${api}/revert`, token, {});
        }
        measured[`${count.toLocaleString('en')} approvals wait`] = times;
      }
      return measured;
    } finally {
      await service.stop();
    }
  });
}

class KillBench {
  readonly #figures: KillFigures = { toCommit: [], toStop: [], dispatchesAfter: 0, inReceipts: 0 };

  constructor(
    private readonly owner: pg.Client,
    private readonly workspace: Workspace,
    private readonly processes: readonly Process[],
  ) {}

  async measure(): Promise<KillFigures> {
    for (let kill = 0; kill < KILLS; kill++) await this.kill(kill);
    const { halts } = await this.call<{ halts: { dispatchCount: number }[] }>(0, '/audit-feed/verify');
    this.#figures.inReceipts = halts.reduce((sum, { dispatchCount }) => sum + dispatchCount, 0);
    return this.#figures;
  }

  private async kill(turn: number): Promise<void> {
    await this.queue();
    // A tenth of them has left, and a little more each time.
    await this.until(
      async () => (await this.count(`status = 'executed'`)) > RACING / 10 + (turn * RACING) / (4 * KILLS),
    );
    const began = Date.now();
    await this.call(turn, '/guardian/kill-switch', { reason: 'bench' });
    await this.until(async () => (await this.count(`status = 'sending'`)) === 0);
    const { rows } = await this.owner.query<{ killed: number; last: number | null; after: number }>(
      `select bench.ms(k.at) as killed, (select bench.ms(max(w.at)) from bench.witness w where w.what = 'ended' and w.at > k.at) as last,
         (select count(*)::int from bench.witness w where w.what = 'marked' and w.mode = 'killed') as after
       from bench.witness k where k.what = 'killed' order by k.at desc limit 1`,
    );
    const { killed, last, after } = rows[0]!;
    this.#figures.toCommit.push(killed - began);
    this.#figures.toStop.push(last === null ? 0 : last - killed);
    this.#figures.dispatchesAfter = after;
    await this.call(turn, '/guardian/revert', {});
    await this.until(async () => (await this.count(`status in ('queued', 'sending', 'halted')`)) === 0);
    await this.owner.query('delete from work_packets where workspace_id = $1', [this.workspace.workspaceId]);
  }

  private call<T>(turn: number, path: string, body?: object): Promise<T> {
    const { url } = this.processes[turn % this.processes.length]!;
    return call<T>(`${url}/api/pro${path}`, this.workspace.token, body);
  }

  private async count(condition: string): Promise<number> {
    const { rows } = await this.owner.query<{ n: number }>(
      `select count(*)::int as n from work_packets where workspace_id = $1 and ${condition}`,
      [this.workspace.workspaceId],
    );
    return rows[0]!.n;
  }

  private async until(isSo: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 120_000;
    while (!(await isSo())) {
      if (performance.now() > end) throw new Error('the work packets did not get on');
      await pause(5);
    }
  }

  /** Approved mails that wait to be sent, as approvals leave them behind. The sweep finds them. */
  private async queue(): Promise<void> {
    const packets = Array.from({ length: RACING }, () => {
      const workPacketId = newId('pkt');
      const params = { to: [`${workPacketId}@acme.example`], subject: 'As agreed', body: 'As agreed.' };
      const content = { workPacketId, actionType: 'email.send', target: 'somebody', params };
      return { ...content, directiveId: newId('dir'), hash: contentHash(content) };
    });
    const values = [this.workspace.workspaceId, JSON.stringify(packets)];
    await this.owner.query(DIRECTIVES, values);
    await this.owner.query(PACKETS, values);
  }
}

const DIRECTIVES = `
  insert into directives (directive_id, workspace_id, text, capo, routed_by, priority, requires_approval, context, status,
    work_packet_ids, history, created_by, created_at)
  select p->>'directiveId', $1, 'Do as agreed', 'capo_ops', 'operator', 'medium', true, '{}', 'sending',
    jsonb_build_array(p->'workPacketId'),
    '[{"from": null, "to": "sending", "at": 0, "receiptId": "rcp_x"}]', '{"type": "system", "id": "system"}', now()
  from jsonb_array_elements($2::jsonb) p`;

const PACKETS = `
  with queued as (
    insert into work_packets (work_packet_id, workspace_id, directive_id, position, capo, engine, title, kind, action_type,
      target, params, reversibility, status, allowed_hash, allowed_by, leverage_score, multipliers, rationale, created_at)
    select p->>'workPacketId', $1, p->>'directiveId', 0, 'capo_ops', 'ops', 'As agreed', 'message', p->>'actionType',
      p->>'target', p->'params', 'irreversible', 'queued', p->>'hash', 'person', 1, '{}', 'As agreed.', now()
    from jsonb_array_elements($2::jsonb) p returning work_packet_id)
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select 'packet.send', work_packet_id, $1, $1, now() from queued`;

const APPROVALS = `
  with asked as (
    insert into directives (directive_id, workspace_id, text, capo, routed_by, priority, requires_approval, context, status,
      work_packet_ids, history, created_by, created_at)
    select app.new_id('dir'), $1, 'Write a note about order ' || n, 'capo_ops', 'operator', 'medium', true, '{}', 'pending_approval', '[]',
      '[{"from": null, "to": "pending_approval", "at": 0, "receiptId": "rcp_x"}]', '{"type": "system", "id": "system"}', now()
    from generate_series(1, $2::int) n returning directive_id)
  insert into approvals (approval_id, workspace_id, directive_id, capo, kind, round, status, ready, title, summary, priority, risk,
    reversibility, output, packets, content_hash, requested_by, requested_at, expires_at, on_expiry)
  select app.new_id('apr'), $1, directive_id, 'capo_ops', 'output', 0, 'pending', true, 'A note', 'A note about an order', 'medium', 'low',
    'reversible', jsonb_build_object('body', repeat('A few words of the note. ', 20)), '[]', md5(directive_id),
    '{"type": "system", "id": "system", "name": "system"}', now(), now() + interval '72 hours', 'reject'
  from asked`;

/** Notes kills, and work packets as they begin and end to be sent, with the guardian's mode at that time. */
const WITNESS = `
  create schema bench;
  create table bench.witness (what text not null, mode text, at timestamptz not null);
  create function bench.ms(at timestamptz) returns float8 language sql as 'select (extract(epoch from at) * 1000)::float8';
  create function bench.note_packet() returns trigger language plpgsql security definer as $$
  begin
    insert into bench.witness
      select case when new.status = 'sending' then 'marked' else 'ended' end, g.mode, clock_timestamp()
      from public.guardians g where g.workspace_id = new.workspace_id;
    return null;
  end $$;
  create constraint trigger note_packet after update on work_packets deferrable initially deferred for each row
    when (new.status = 'sending' and new.attempts <> old.attempts or old.status = 'sending' and new.status <> 'sending')
    execute function bench.note_packet();
  create function bench.note_guardian() returns trigger language plpgsql security definer as $$
  begin
    insert into bench.witness values (new.mode, new.mode, clock_timestamp());
    return null;
  end $$;
  create constraint trigger note_guardian after update on guardians deferrable initially deferred for each row
    when (new.mode <> old.mode) execute function bench.note_guardian();
`;
