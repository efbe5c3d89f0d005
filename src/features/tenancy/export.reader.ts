import pg from 'pg';
import type { ChainPoint, SignedCheckpoint, StoredReceipt } from '../../platform/receipts/verify-chain.js';
import { isExported, LEFT_OUT_COLUMNS, LEFT_OUT_TABLES } from './exported-tables.js';
import type { ExportLines } from './export-format.js';
import type { Snapshot } from './snapshots.js';

/** A table of which records are exported. */
export interface ExportedTable {
  name: string;
  columns: string[];
}

/** What an export holds and what it leaves out. */
export interface ExportPlan {
  tables: ExportedTable[];
  leftOut: Record<string, string>;
}

const WITHHELD = 'it is a secret, or may be one';
/** Accounts belong to no workspace; those of its members are exported with it. */
const USERS = 'users';

/** Reads what an export is made of, in one snapshot, a page at a time. */
export class ExportReader {
  constructor(
    private readonly snapshot: Snapshot,
    private readonly workspaceId: string,
  ) {}

  async head(): Promise<ChainPoint & { name: string }> {
    const [head] = await this.snapshot.rows<ChainPoint & { name: string }>(
      `select h.seq, h.hash, w.name from receipt_heads h join workspaces w on w.workspace_id = h.workspace_id
       where h.workspace_id = $1`,
      [this.workspaceId],
    );
    return head!;
  }

  /** From the catalogue: a table that is new is exported without a word here. */
  async plan(): Promise<ExportPlan> {
    const found = await this.snapshot.rows<{ table: string; column: string; readable: boolean }>(
      `select c.relname::text as table, a.attname::text as column,
         has_column_privilege(c.oid, a.attnum, 'select') as readable
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
         and (c.relname = '${USERS}' or exists (select from pg_attribute w
           where w.attrelid = c.oid and w.attname = 'workspace_id' and not w.attisdropped))
       order by c.relname, a.attnum`,
    );
    const plan: ExportPlan = { tables: [], leftOut: { ...LEFT_OUT_TABLES } };
    for (const [name, columns] of Map.groupBy(found, ({ table }) => table)) {
      if (name in LEFT_OUT_TABLES) continue;
      const shown = columns.filter(({ column, readable }) => readable && isExported(name, column));
      plan.tables.push({ name, columns: shown.map(({ column }) => column) });
      for (const one of columns.filter((column) => !shown.includes(column))) {
        const full = `${name}.${one.column}`;
        plan.leftOut[full] = LEFT_OUT_COLUMNS[full] ?? WITHHELD;
      }
    }
    return plan;
  }

  /** The records of a table as lines. */
  async *records({ name, columns }: ExportedTable, lines: ExportLines): AsyncGenerator<string> {
    const own = pg.escapeLiteral(this.workspaceId);
    const condition =
      name === USERS
        ? `user_id in (select m.user_id from members m where m.workspace_id = ${own})`
        : `workspace_id = ${own}`;
    const table = pg.escapeIdentifier(name);
    const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ');
    const text = `select to_json(r)::text as row from (select ${list} from ${table} where ${condition}) r`;
    for await (const page of this.snapshot.pages<{ row: string }>(text, ({ row }) => row.length)) {
      yield page.map(({ row }) => lines.record(name, row)).join('');
    }
  }

  /** The chain as lines, each checkpoint before the receipt that it signs. */
  async *chain(lines: ExportLines): AsyncGenerator<string> {
    const text = `select seq, receipt_id as "receiptId", at, actor_type as "actorType", actor_id as "actorId", action,
        entity_type as "entityType", entity_id as "entityId", directive_id as "directiveId", team_id as "teamId", capo, body,
        prev_hash as "prevHash", hash
      from receipts where workspace_id = ${pg.escapeLiteral(this.workspaceId)} order by seq`;
    let after = 0;
    for await (const page of this.snapshot.pages<Omit<StoredReceipt, 'workspaceId'>>(
      text,
      ({ body }) => body.length + 400,
    )) {
      const upTo = page.at(-1)!.seq;
      const checkpoints = await this.checkpoints(after, upTo);
      let next = 0;
      let out = '';
      for (const receipt of page) {
        for (; next < checkpoints.length && checkpoints[next]!.seq <= receipt.seq; next++) {
          out += lines.checkpoint(checkpoints[next]!);
        }
        out += lines.receipt(receipt);
      }
      after = upTo;
      yield out;
    }
  }

  private checkpoints(after: number, upTo: number): Promise<Omit<SignedCheckpoint, 'workspaceId'>[]> {
    return this.snapshot.rows(
      `select seq, hash, signed_at as "signedAt", key_id as "keyId", signature from receipt_checkpoints
       where workspace_id = $1 and seq > $2 and seq <= $3 order by seq`,
      [this.workspaceId, after, upTo],
    );
  }
}
