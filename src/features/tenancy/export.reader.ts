import pg from 'pg';
import type { ChainPoint, SignedCheckpoint, StoredReceipt } from '../../platform/receipts/verify-chain.js';
import type { ExportLines } from './export-format.js';
import type { Snapshot } from './snapshots.js';

/**
 * What an export leaves out, each with its reason; everything else of every table with rows of the workspace is in it, also
 * of tables that nobody has thought of here. What looks like a secret is left out until somebody says that it is none.
 */
export const LEFT_OUT_TABLES: Readonly<Record<string, string>> = {
  chat_turns: 'which questions a model is being asked at the moment',
  idempotency_keys: 'answers that are kept for a day, so that a request that is sent again is not done again',
  partner_secrets: 'the secret of the partner',
  receipts: 'they follow in their order, with the exact bytes that were hashed',
  receipt_checkpoints: 'they follow, each before the receipt that it signs',
  receipt_heads: 'the head stands in the first line',
  sessions: 'who is signed in at the moment',
  tallies: 'counted from what is exported',
  tally_notes: 'counted from what is exported',
  tier_days: 'how much of the day of the tier is used',
  work_breakers: 'which work the service lets wait at the moment',
  work_items: 'which work the service does at the moment',
};

/** Columns, as `table.column`. */
export const LEFT_OUT_COLUMNS: Readonly<Record<string, string>> = {
  'webhook_destinations.url':
    'an address may contain a secret; everything else names the destination by its description or id',
};

/** Columns with a name like a secret's that are none: hashes of contents, keys of sums, ids. */
const NO_SECRETS = new Set([
  'approvals.content_hash',
  'partner_events.content_hash',
  'policies.hash',
  'report_comments.section_key',
  'standing_orders.hash',
  'simulations.hash',
  'standing_order_versions.hash',
  'skill_pack_orders.order_key',
  'skill_pack_orders.shipped_hash',
  'skill_packs.manifest_hash',
  'skill_packs.name_key',
  'teams.name_key',
  'tokens.agent_name_key',
  'work_packets.allowed_hash',
  'reports.head_hash',
  'model_charges.tokens_in',
  'model_charges.tokens_out',
  'model_usage.tokens',
  'model_usage.reserved_tokens',
  'workspace_exports.head_hash',
]);

/** Whole words of a column's name. */
const LIKE_A_SECRET =
  /(?:^|_)(?:sealed|secrets?|tokens?|passwords?|passphrase|hash|hashes|keys?|recovery|totp|seed|csrf)(?:_(?!id$|ids$)|$)/;

/** Whether an export shows this column. */
function isExported(table: string, column: string): boolean {
  const name = `${table}.${column}`;
  if (name in LEFT_OUT_TABLES || name in LEFT_OUT_COLUMNS) return false;
  return !LIKE_A_SECRET.test(column) || NO_SECRETS.has(name);
}

/** A table of which records are exported. */
interface ExportedTable {
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
