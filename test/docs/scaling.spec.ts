import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RouteTable } from '../../src/platform/http/route-table.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { codeIn, type Reach, reachedFrom, rowsBelow } from './database-reach.js';
import { ROOT } from './named-tests.js';

const page = await readFile(join(import.meta.dirname, 'crossings.md'), 'utf8');
const guide = await readFile(join(ROOT, 'docs/scaling.md'), 'utf8');

interface SqlFunction {
  name: string;
  body: string;
  /** It runs with the rights of its owner, which row-level security may not bind to one workspace. */
  definer: boolean;
}

/** A row of the page: what crosses, and the files and functions that use it. */
interface Crossing {
  things: string[];
  places: string[];
}

let test: TestApp;
let functions: SqlFunction[];
let tables: { name: string; hasWorkspace: boolean }[];
/** Where each thing that crosses is used, by the sources and the functions of the database. */
let reach: Reach;
beforeAll(async () => {
  test = await startTestApp();
  functions = await test.rows<SqlFunction>(
    `select 'app.' || proname as name, prosrc as body, prosecdef as definer from pg_proc
     where pronamespace = 'app'::regnamespace`,
  );
  tables = await test.rows(
    `select c.relname as name, exists (select from pg_attribute a
       where a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped) as "hasWorkspace"
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`,
  );
  const definers = functions.filter(({ definer }) => definer).map(({ name }) => name);
  const ofNoWorkspace = tables.filter(({ hasWorkspace }) => !hasWorkspace).map(({ name }) => name);
  const { entityMetadatas } = test.app.get(DataSource);
  reach = reachedFrom({
    functions: definers,
    tables: ofNoWorkspace,
    entities: Object.fromEntries(
      entityMetadatas
        .filter(({ tableName }) => ofNoWorkspace.includes(tableName))
        .map((entity) => [entity.name, entity.tableName]),
    ),
  });
  for (const name of [...definers, 'pg_notify']) {
    const callers = functions.filter((one) => one.name !== name && mentions(one.body, name));
    const places = reach.get(name) ?? new Set();
    for (const caller of callers) places.add(caller.name);
    reach.set(name, places);
  }
});
afterAll(() => test.close());

const mentions = (body: string, name: string) => new RegExp(`\\b${name.replace('.', '\\.')}\\b`).test(body);

/** The page leaves `src/` out. */
const fileOf = (place: string) => (/^(app\.|scripts\/)/.test(place) ? place : `src/${place}`);

function crossingsBelow(heading: string): Crossing[] {
  return rowsBelow(page, heading).map(([what, where]) => ({
    things: codeIn(what!),
    places: codeIn(where!).map(fileOf),
  }));
}

const ACROSS = 'Functions that look across workspaces';
const BOUND = 'Functions with more rights, for one workspace';
const OTHERS = 'Other ways past a workspace';
const LOCAL = 'Tables of no workspace';
const KEYS = 'Keys without the workspace';

describe('what crosses workspaces, in crossings.md', () => {
  it('has each function that row-level security does not bind to one workspace, and no other', () => {
    const listed = [...crossingsBelow(ACROSS), ...crossingsBelow(BOUND)].flatMap(({ things }) => things);

    expect(listed.toSorted()).toEqual(
      functions
        // Tests replace the clock of the database.
        .filter(({ definer, name }) => definer && name !== 'app.clock')
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  it('takes for bound to one workspace only what goes by the workspace of its transaction, or of its row', () => {
    for (const name of crossingsBelow(BOUND).flatMap(({ things }) => things)) {
      const { body } = functions.find((one) => one.name === name)!;
      expect(body, name).toMatch(
        /current_setting\('app\.workspace_id', true\)|new\.workspace_id|from new_rows r/,
      );
    }
  });

  it('has each other way past a workspace, and no other', () => {
    const listed = crossingsBelow(OTHERS).flatMap(({ things }) => things);

    const others = [...reach.keys()].filter((thing) => !thing.startsWith('app.') && thing !== 'db.system');
    expect(listed.toSorted()).toEqual(others.toSorted());
  });

  it('says of each where it is used, by file and by function', () => {
    for (const heading of [ACROSS, BOUND, OTHERS]) {
      for (const { things, places } of crossingsBelow(heading)) {
        const used = new Set(things.flatMap((thing) => [...(reach.get(thing) ?? [])]));
        expect(places.toSorted(), things.join(', ')).toEqual([...used].toSorted());
      }
    }
  });

  it('names every file that runs a statement outside of a workspace', () => {
    const named = [ACROSS, BOUND, OTHERS].flatMap((heading) =>
      crossingsBelow(heading).flatMap(({ places }) => places),
    );

    // Statements of the whole service that touch no table.
    const ofNoTable = [
      'src/platform/observability/health.controller.ts',
      'src/platform/observability/figures.ts',
    ];
    expect([...named, ...ofNoTable]).toEqual(expect.arrayContaining([...reach.get('db.system')!]));
  });
});

describe('how the tables could be distributed, in crossings.md', () => {
  it('has each table of no workspace, with what becomes of it, and no other', () => {
    const listed = rowsBelow(page, LOCAL);

    expect(listed.flatMap(([names]) => codeIn(names!)).toSorted()).toEqual(
      tables
        .filter(({ hasWorkspace }) => !hasWorkspace)
        .map(({ name }) => name)
        .toSorted(),
    );
    for (const [names, kind, reason] of listed) {
      expect(kind, names).toMatch(/^(reference|local)$/);
      expect(reason, names).not.toBe('');
    }
  });

  it('has each key of the other tables that does not contain the workspace, and no other', async () => {
    const references = rowsBelow(page, LOCAL)
      .filter(([, kind]) => kind === 'reference')
      .flatMap(([names]) => codeIn(names!));
    const found = await test.rows<{ table: string; keys: string[] }>(KEYS_WITHOUT_WORKSPACE, [references]);

    const listed = Object.fromEntries(
      rowsBelow(page, KEYS).map(([table, keys]) => [codeIn(table!)[0], codeIn(keys!).toSorted()]),
    );
    expect(listed).toEqual(Object.fromEntries(found.map(({ table, keys }) => [table, keys.toSorted()])));
  });
});

describe('how many cores, in docs/scaling.md', () => {
  it('is reckoned from the measured cost of a directive', () => {
    const cost = rowsBelow(guide, 'What one act costs').find(([act]) =>
      act!.includes('a directive from hand-in'),
    )!;
    const [walKb, service, database] = cost.slice(3).map(Number) as [number, number, number];
    const ofWorkspace = Number(/one takes 484 ÷ 5\s+= (\d+) directives/.exec(guide)![1]);
    const rows = rowsBelow(guide, 'How many cores').map((row) => row.slice(0, 8).map(Number));
    expect(rows.map(([cores]) => cores)).toEqual([4, 8, 16, 32, 64]);
    for (const row of rows) {
      const cores = row[0]!;
      const full = (cores * 1_000) / (service + database);
      const processes = Math.ceil((full * service) / 1_000);
      expect(row).toEqual([
        cores,
        Math.round(full),
        Math.round(full / 2),
        processes,
        processes * 11,
        Math.round((full * walKb) / 1_000),
        Math.ceil(full / ofWorkspace),
        Math.round((full * database) / 1_000),
      ]);
    }
  });
});

describe('what is read from a replica, in docs/scaling.md', () => {
  const listed = rowsBelow(guide, 'Read replicas').flatMap(([paths, to]) =>
    codeIn(paths!).map((above) => ({ above, replica: to === 'yes' })),
  );
  const covers = (above: string, path: string) => path === above || path.startsWith(`${above}/`);
  const routes = () =>
    test.app
      .get(RouteTable)
      .entries.filter(({ method }) => method === 'GET')
      .flatMap(({ paths, policy }) => paths.map((path) => ({ path, replica: policy.replica ?? false })))
      .filter(({ path }) => path.startsWith('/api/pro/'))
      .map(({ path, ...route }) => ({ ...route, path: path.slice('/api/pro'.length) }));

  it('has each reading route of the API as it is declared, by itself or by the path above it', () => {
    for (const { path, replica } of routes()) {
      const covering = listed.filter(({ above }) => covers(above, path));
      const nearest = covering.toSorted((a, b) => b.above.length - a.above.length)[0];
      expect(nearest?.replica, path).toBe(replica);
    }
  });

  it('has no path without a route, and none twice', () => {
    const paths = listed.map(({ above }) => above);
    expect(paths.filter((above) => !routes().some(({ path }) => covers(above, path)))).toEqual([]);
    expect(new Set(paths).size).toBe(paths.length);
  });

  it('declares no route for a replica that changes something, or is not below /api/pro', () => {
    const { entries } = test.app.get(RouteTable);
    const declared = entries.filter(({ policy }) => policy.replica);
    expect(
      declared.filter(({ method, paths }) => method !== 'GET' || !paths[0]!.startsWith('/api/pro/')),
    ).toEqual([]);
  });
});

/** Primary, unique and foreign keys; a foreign key to a reference table ($1) may be as it is. */
const KEYS_WITHOUT_WORKSPACE = `
with tenant as (
  select c.oid, c.relname::text as name, a.attnum from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
)
select name as "table", array_agg(key) as keys from (
  select t.name, i.relname::text as key from tenant t
  join pg_index x on x.indrelid = t.oid and x.indisunique and t.attnum <> all (x.indkey::int2[])
  join pg_class i on i.oid = x.indexrelid
  union all
  select t.name, k.conname::text from tenant t
  join pg_constraint k on k.conrelid = t.oid and k.contype = 'f' and t.attnum <> all (k.conkey)
  join pg_class f on f.oid = k.confrelid and f.relname::text <> all ($1)
) keys group by name`;
