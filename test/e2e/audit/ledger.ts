import type { Actor } from '../../../src/platform/auth/caller.js';
import { Db } from '../../../src/platform/database/db.js';
import { Checkpoints } from '../../../src/platform/receipts/checkpoints.js';
import { type NewReceipt, Receipts } from '../../../src/platform/receipts/receipts.js';
import type { ChainPoint } from '../../../src/platform/receipts/verify-chain.js';
import type { TestApp, TestMember } from '../../support/test-app.js';

export const ADA: Actor = { type: 'member', id: 'mem_ada', name: 'Ada', via: 'api' };

/** A chain of receipts to read and to tamper with, in a workspace of its own unless one is given. */
export class Ledger {
  private constructor(
    readonly test: TestApp,
    readonly workspaceId: string,
  ) {}

  static async open(test: TestApp, workspaceId?: string): Promise<Ledger> {
    return new Ledger(test, workspaceId ?? (await test.createWorkspace()).workspaceId);
  }

  /** Ten receipts under a signed checkpoint, with their head and a viewer who looks at them. */
  static async ten(test: TestApp): Promise<{ ledger: Ledger; viewer: TestMember; head: ChainPoint }> {
    const ledger = await Ledger.open(test);
    const viewer = await test.createMember(ledger.workspaceId, 'viewer');
    await ledger.fill(10, { capo: 'ceo' });
    await test.app.get(Checkpoints).signDue();
    return { ledger, viewer, head: await ledger.head() };
  }

  /** Appends receipts, each in an act of its own. */
  async append(...receipts: Partial<NewReceipt>[]): Promise<void> {
    for (const receipt of receipts) await this.act([receipt]);
  }

  /** Appends so many receipts in one act. */
  async fill(count: number, receipt: Partial<NewReceipt> = {}): Promise<void> {
    await this.act(
      Array.from({ length: count }, (_, index) => ({ summary: `Receipt ${index}.`, ...receipt })),
    );
  }

  head(): Promise<ChainPoint> {
    return this.one('select seq::int, hash from receipt_heads where workspace_id = $1');
  }

  /** Changes what is stored as someone would who owns the server; `$1` is the workspace. */
  async tamper(...statements: string[]): Promise<void> {
    const client = await this.test.database.owner.connect();
    try {
      await client.query('begin; set local session_replication_role = replica');
      for (const statement of statements) await client.query(statement, [this.workspaceId]);
      await client.query('commit');
    } finally {
      client.release();
    }
  }

  async one<T>(sql: string): Promise<T> {
    const [row] = await this.test.rows<T>(sql, [this.workspaceId]);
    return row!;
  }

  private async act(receipts: Partial<NewReceipt>[]): Promise<void> {
    const { app } = this.test;
    await app.get(Db).transaction({ workspaceId: this.workspaceId, teamIds: 'all' }, async () => {
      for (const receipt of receipts) {
        app.get(Receipts).append({
          actor: ADA,
          action: 'thing.done',
          entity: { type: 'thing', id: 'thing_1' },
          summary: 'Ada did a thing.',
          ...receipt,
        });
      }
    });
  }
}
