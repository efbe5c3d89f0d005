import pg from 'pg';
import { afterAll } from 'vitest';

type Query = (this: unknown, what: unknown, ...more: unknown[]) => unknown;

/** Every different statement that the program has sent through `Db` in this process from the call to the end of the file. */
export function recordStatements(): ReadonlySet<string> {
  const texts = new Set<string>();
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  prototype.query = function (what, ...more) {
    const { statements = [] } = (what ?? {}) as { statements?: readonly { text: string }[] };
    for (const { text } of statements) texts.add(text);
    return query.call(this, what, ...more);
  };
  afterAll(() => {
    prototype.query = query;
  });
  return texts;
}
