import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { MigrationInterface } from 'typeorm';
import type pg from 'pg';

/** Beside `src`, both in the sources and in `dist`. */
const FOLDER = new URL('../../../migrations/', import.meta.url);

type Migration = new () => MigrationInterface;

/** A function of the database in a file of its own; the file is its one truth and is applied whenever it changes. */
export interface SqlFunction {
  name: string;
  text: string;
  sha256: string;
}

/** Every migration, in the order of the time in its name. */
export async function allMigrations(): Promise<Migration[]> {
  const files = (await readdir(FOLDER)).filter((file) => /^\d+-[\w-]+\.[jt]s$/.test(file)).toSorted();
  return Promise.all(files.map(async (file) => migrationIn(file)));
}

async function migrationIn(file: string): Promise<Migration> {
  const exported = Object.values((await import(new URL(file, FOLDER).href)) as Record<string, Migration>);
  if (exported.length !== 1) throw new Error(`${file} must export exactly one migration`);
  return exported[0]!;
}

/** Every function of `migrations/functions`. */
export async function allFunctions(): Promise<SqlFunction[]> {
  const folder = new URL('functions/', FOLDER);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8');
      return {
        name: file.slice(0, -'.sql'.length),
        text,
        sha256: createHash('sha256').update(text).digest('hex'),
      };
    }),
  );
}

/**
 * Applies, in the open transaction, the functions that the database does not have yet, or has in another version; the table
 * of what it has is made by the first call.
 */
export async function applyFunctions(owner: pg.ClientBase, functions: readonly SqlFunction[]): Promise<void> {
  await owner.query(
    `create table if not exists sql_functions (name text primary key, sha256 text not null);
     revoke all on sql_functions from public`,
  );
  const { rows } = await owner.query<{ name: string; sha256: string }>(
    'select name, sha256 from sql_functions',
  );
  const applied = new Map(rows.map(({ name, sha256 }) => [name, sha256]));
  for (const { name, text, sha256 } of functions) {
    if (applied.get(name) === sha256) continue;
    await owner.query(text);
    await owner.query(
      `insert into sql_functions (name, sha256) values ($1, $2)
       on conflict (name) do update set sha256 = excluded.sha256`,
      [name, sha256],
    );
  }
}
