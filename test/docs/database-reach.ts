import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './named-tests.js';

/** What may stand in a statement, or lead to the database. */
export interface Things {
  /** As `app.name`. */
  functions: readonly string[];
  tables: readonly string[];
  /** The table that each of these classes describes. */
  entities: Readonly<Record<string, string>>;
}

/** The files that a thing is used in, by its name. */
export type Reach = Map<string, Set<string>>;

/** Ways past a workspace that are no statement: their name, and how a node of the syntax shows them. */
const WAYS: Record<string, (text: string, node: ts.Node) => boolean> = {
  'db.system': (text, node) => ts.isCallExpression(node) && /\bdb\s*\.system(All)?$/.test(text),
  'db.inWorkspace': (text, node) => ts.isCallExpression(node) && /\bdb\s*\.inWorkspace$/.test(text),
  'new pg.Client': (text, node) =>
    ts.isNewExpression(node) ? /^pg\.(Client|Pool)$/.test(text) : text === 'openConnection',
  'new DataSource': (text, node) => ts.isNewExpression(node) && text === 'DataSource',
};

const SERVER_WIDE = ['pg_notify', 'pg_stat_activity'];

/** Where in the sources each of these things is used: in a string, or as a call. Comments are not looked at. */
export function reachedFrom({ functions, tables, entities }: Things): Reach {
  const reach: Reach = new Map();
  const add = (thing: string, file: string) => reach.set(thing, (reach.get(thing) ?? new Set()).add(file));
  const known = new Set(functions);
  const ofTables = new RegExp(`\\b(?:from|join|into|update|table)\\s+"?(${tables.join('|')})\\b`, 'gi');
  for (const path of globSync('{src,scripts}/**/*.ts', { cwd: ROOT })) {
    const file = path.replaceAll('\\', '/');
    const source = ts.createSourceFile(file, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest);
    const inText = (text: string) => {
      for (const [name] of text.matchAll(/\bapp\.\w+/g)) if (known.has(name)) add(name, file);
      for (const [, table] of text.matchAll(ofTables)) add(table!.toLowerCase(), file);
      for (const thing of SERVER_WIDE) if (text.includes(thing)) add(thing, file);
    };
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) inText(node.text);
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
        const called = node.expression.getText(source);
        for (const [way, isIt] of Object.entries(WAYS)) if (isIt(called, node)) add(way, file);
        for (const argument of node.arguments ?? []) {
          const table = ts.isIdentifier(argument) && entities[argument.text];
          if (table) add(table, file);
          if (argument.getText(source) === 'NO_WORKSPACE' || isNoWorkspace(argument))
            add('NO_WORKSPACE', file);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return reach;
}

/** `{ workspaceId: '', … }` */
function isNoWorkspace(node: ts.Node): boolean {
  return (
    ts.isObjectLiteralExpression(node) &&
    node.properties.some(
      (property) =>
        ts.isPropertyAssignment(property) &&
        ts.isIdentifier(property.name) &&
        property.name.text === 'workspaceId' &&
        ts.isStringLiteral(property.initializer) &&
        property.initializer.text === '',
    )
  );
}

/** The cells of each row of the tables below a heading of this text, up to the next heading. */
export function rowsBelow(page: string, heading: string): string[][] {
  const section = page.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`the page has no heading "${heading}"`);
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  const rows = lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  // The names of the columns, and the line below them.
  return rows.filter((row, index) => !/^-+:?$/.test(row[0]!) && !/^-+:?$/.test(rows[index + 1]?.[0] ?? ''));
}

/** What stands between backticks. */
export function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
}
