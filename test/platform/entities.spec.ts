import type { DataSource } from 'typeorm';
import { DataSource as TypeOrmDataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnsOf, insertOf, selectOf, updateOf } from '../../src/platform/database/table.js';
import { SignalEntity } from '../../src/features/records/records.entity.js';
import { StandingOrderEntity } from '../../src/features/standing-orders/standing-order.entity.js';
import { UserEntity } from '../../src/features/workspaces/workspaces.entity.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Tables that no entity describes, each with the reason. */
const WITHOUT_ENTITY: Record<string, string> = {
  account_acts: 'written by app.record_account_act, and read once by the work that records it',
  account_mails: 'written and read by functions alone, since an account belongs to no workspace',
  database_identity: 'which database this is, read and written by the owner of the database alone',
  idempotency_keys: 'read and written by app.claim_key and app.finish alone',
  migrations: 'the list of migrations that TypeORM keeps',
  model_usage: 'counters that app.reserve_model_usage and app.settle_model_usage keep',
  oidc_spent_states: 'read and written by app.spend_oidc_state alone',
  password_resets: 'written and read by functions alone, since an account belongs to no workspace',
  recovery_codes: 'written and read by functions alone, since an account belongs to no workspace',
  second_factors: 'written and read by functions alone, since an account belongs to no workspace',
  sign_in_locks: 'written and read by functions alone, since an account belongs to no workspace',
  sign_in_rates: 'written and read by functions alone, since an account belongs to no workspace',
  sign_in_tries: 'written and read by functions alone, since an account belongs to no workspace',
  revocation_lists: 'written and read by functions alone, since it belongs to no workspace',
  rate_windows: 'counted by the statement of the shared rate-limit store alone',
  receipt_checkpoints: 'belongs to the chain, which only functions write',
  receipt_heads: 'belongs to the chain, which only functions write',
  wal_timeline: 'kept by the process that looks after a replica alone',
  signing_keys: 'belongs to the chain, which only functions write',
  receipts: 'belongs to the chain, which only functions write',
  sql_functions: 'what applyFunctions has applied, read by the owner of the database alone',
  policies: 'sets of order versions, which the repository of policies adds and reads',
  standing_order_epochs: 'counted by the trigger of standing orders',
  standing_order_usage: 'counters that app.settle_order_usage and the triggers of the uses keep',
  tallies: 'counters that app.fold_tallies keeps and app.tally_of and KpiFiguresReader read',
  tally_notes: 'written by triggers alone, until app.fold_tallies adds them up',
  work_breakers: 'read and written by platform/work and its functions alone',
  work_items: 'read and written by platform/work and its functions alone',
  user_identities: 'read and written by app.find_identity and app.add_identity alone',
  tier_days: 'counted by the statement of the shared rate-limit store alone',
};

interface ColumnShape {
  type: string;
  nullable: boolean;
  primary: boolean;
}

type TableShapes = Record<string, Record<string, ColumnShape>>;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** The tables of the database as it was migrated. */
async function migratedShapes(): Promise<TableShapes> {
  const rows = await app.rows<{
    tab: string;
    col: string;
    type: string;
    nullable: boolean;
    primary: boolean;
  }>(
    `select c.relname as tab, a.attname as col, format_type(a.atttypid, a.atttypmod) as type,
       not a.attnotnull as nullable,
       exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisprimary
         and a.attnum = any (i.indkey)) as primary
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  const shapes: TableShapes = {};
  for (const { tab, col, type, nullable, primary } of rows)
    (shapes[tab] ??= {})[col] = { type, nullable, primary };
  return shapes;
}

/** The tables as the entities describe them, by TypeORM's own reading of its metadata. */
function describedShapes(dataSource: DataSource): TableShapes {
  return Object.fromEntries(
    dataSource.entityMetadatas.map((entity) => [
      entity.tableName,
      Object.fromEntries(
        entity.columns.map((column) => {
          const type = dataSource.driver.normalizeType(column);
          const precision =
            column.precision === undefined || column.precision === null
              ? ''
              : `(${column.precision},${column.scale})`;
          return [
            column.databaseName,
            {
              type: `${type === 'timestamptz' ? 'timestamp with time zone' : type}${precision}${column.isArray ? '[]' : ''}`,
              nullable: column.isNullable,
              primary: column.isPrimary,
            },
          ];
        }),
      ),
    ]),
  );
}

describe('the entities', () => {
  it('describe the migrated tables: every column, its type, whether it may be null, the keys', async () => {
    const migrated = await migratedShapes();
    const described = describedShapes(app.app.get(TypeOrmDataSource));
    for (const table of Object.keys(WITHOUT_ENTITY)) delete migrated[table];

    expect(described).toEqual(migrated);
  });

  it('leave out only tables that are there, each with a reason', async () => {
    const migrated = Object.keys(await migratedShapes());

    expect(migrated).toEqual(expect.arrayContaining(Object.keys(WITHOUT_ENTITY)));
  });
});

describe('statements made from an entity', () => {
  it('list the columns by their names in the database, with an alias and without some', () => {
    expect(columnsOf(StandingOrderEntity)).toContain('"when", "limits"');
    expect(columnsOf(SignalEntity, { of: 's', without: ['body'] })).toMatch(
      /^s\."signal_id", s\."workspace_id"/,
    );
    expect(columnsOf(SignalEntity, { without: ['body'] })).not.toContain('"body"');
  });

  it('leave out what is not selected unless asked for', () => {
    expect(columnsOf(UserEntity)).toBe('"user_id", "email", "display_name", "created_at"');
  });

  it('send times as times and structures as JSON', () => {
    const { text, values } = updateOf(
      SignalEntity,
      { workspaceId: 'wks_1', signalId: 'sig_1' },
      { acknowledgedAt: 1000, acknowledgedBy: null, entity: { type: 'a', id: 'b' } },
    );

    expect(text).toBe(
      'update signals set "acknowledged_at" = $3, "acknowledged_by" = $4, "entity" = $5 where "workspace_id" = $1 and "signal_id" = $2',
    );
    expect(values).toEqual(['wks_1', 'sig_1', new Date(1000), null, '{"type":"a","id":"b"}']);
  });

  it('refuse a read or an update of every row, and a property that is no column', () => {
    expect(() => selectOf(SignalEntity, {})).toThrow('names its rows');
    expect(() => selectOf(SignalEntity, { signalId: undefined })).toThrow('names its rows');
    expect(() => updateOf(SignalEntity, {}, { note: 'x' })).toThrow('names its rows');
    expect(() => selectOf(SignalEntity, { colour: 'red' } as never)).toThrow('no column for colour');
    expect(() => insertOf(String as never, {})).toThrow('not an entity');
  });
});
