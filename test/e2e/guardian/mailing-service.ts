import { randomInt } from 'node:crypto';
import { expect } from 'vitest';
import type { Answer } from '../../support/client.js';
import { type Service, type ServiceProcess, startService } from '../../support/processes.js';
import { eventually } from '../../support/test-app.js';
import { MailReceiver } from './mail-receiver.js';
import { installWitness, noteMail } from './witness.js';

type Trio = readonly [ServiceProcess, ServiceProcess, ServiceProcess];

export interface PacketRow {
  status: string;
  attempts: number;
  code: string | null;
}

/** Three processes that answer and work, over one database whose witness notes what they do, and their mail server. */
export class MailingService {
  private constructor(
    readonly service: Service,
    readonly receiver: MailReceiver,
  ) {}

  static async start(environment: Record<string, string> = {}): Promise<MailingService> {
    const receiver: MailReceiver = await MailReceiver.start((id) => noteMail(service.rows, id));
    const service = await startService(3, { SMTP_URL: receiver.url, ...environment });
    await installWitness(service.rows);
    return new MailingService(service, receiver);
  }

  get processes(): Trio {
    return this.service.processes as unknown as Trio;
  }

  /** Any of the processes, but for `not`. */
  anyProcess(not?: ServiceProcess): ServiceProcess {
    const others = this.processes.filter((process) => process !== not);
    return others[randomInt(others.length)]!;
  }

  kill(process = this.anyProcess()): Promise<Answer> {
    return this.service.client(process).post('/guardian/kill-switch', { reason: 'something is wrong' });
  }

  /** Answers the packets that go on. */
  async revert(process = this.anyProcess()): Promise<string[]> {
    const { status, body, text } = await this.service.client(process).post('/guardian/revert', {});
    expect(status, text).toBe(200);
    return body.plan.map((step: { workPacketId: string }) => step.workPacketId);
  }

  async packet(workPacketId: string): Promise<PacketRow> {
    const [row] = await this.service.rows<PacketRow>(
      `select status, attempts, result->'error'->>'code' as code from work_packets where work_packet_id = $1`,
      [workPacketId],
    );
    return row!;
  }

  /** The packet once it stands so. */
  until(workPacketId: string, status: string, seconds?: number): Promise<PacketRow> {
    return eventually(
      () => this.packet(workPacketId),
      (packet) => packet.status === status,
      seconds,
    );
  }

  /** The packets that stand in one of these ways. */
  async packetsThatAre(...statuses: string[]): Promise<string[]> {
    const found = await this.service.rows<{ id: string }>(
      'select work_packet_id as id from work_packets where status = any($1)',
      [statuses],
    );
    return found.map(({ id }) => id);
  }

  untilNoneIs(...statuses: string[]): Promise<string[]> {
    return eventually(
      () => this.packetsThatAre(...statuses),
      (left) => left.length === 0,
      60,
    );
  }

  /** Locks a row of this table; answers how to let it go. */
  async lockRow(table: 'guardians' | 'approvals', key: string, id: string): Promise<() => Promise<void>> {
    const connection = await this.service.database.owner.connect();
    await connection.query('begin');
    await connection.query(`select 1 from ${table} where ${key} = $1 for update`, [id]);
    return async () => {
      await connection.query('rollback');
      connection.release();
    };
  }

  /** Ends when so many transactions wait for a lock. */
  async untilWaiting(transactions: number): Promise<void> {
    await eventually(
      () =>
        this.service.rows(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      (waiting) => waiting.length === transactions,
    );
  }

  /** No process has ended or met what it had not reckoned with; no two transactions waited for each other. */
  async expectSound(): Promise<void> {
    for (const process of this.processes) {
      expect(process.exited).toBe(false);
      expect(process.errors).toBe('');
      expect(process.logs.filter(({ level }) => (level as number) >= 50)).toEqual([]);
      expect(JSON.stringify(process.logs)).not.toContain('deadlock');
    }
    const { body } = await this.service.client().get('/audit-feed/verify');
    expect(body).toMatchObject({ ok: true, faults: [] });
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.receiver.close();
  }
}

/** Milliseconds, for a person: how many, the middle, the worst but one percent, the worst. */
export function spread(values: readonly number[]): string {
  if (values.length === 0) return 'none';
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return `p50 ${at(0.5).toFixed(0)}, p99 ${at(0.99).toFixed(0)}, max ${at(1).toFixed(0)} ms (${sorted.length})`;
}
