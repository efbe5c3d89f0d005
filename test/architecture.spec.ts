import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync, globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

interface Source {
  /** From the project's folder: `src/features/approvals/approval.ts`. */
  path: string;
  text: string;
}

/** The service's own files, without tests. */
async function sources(...patterns: string[]): Promise<Source[]> {
  const paths = globSync(patterns, { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
  return Promise.all(
    paths
      .filter((path) => !path.endsWith('.spec.ts'))
      .toSorted()
      .map(async (path) => ({ path, text: await readFile(join(ROOT, path), 'utf8') })),
  );
}

/** `approvals` for a file of that feature, `platform` for everything else. */
const ownerOf = (path: string) => /^src\/features\/([^/]+)\//.exec(path)?.[1] ?? 'platform';

/** Each broken rule as `rule: from -> to`. */
async function violations(baseDir: string, folders: string[]): Promise<string[]> {
  const options = await extractDepcruiseOptions(join(ROOT, '.dependency-cruiser.cjs'));
  const tsConfig = extractTSConfig(join(ROOT, 'tsconfig.json'));
  const { output } = await cruise(folders, { ...options, baseDir }, undefined, { tsConfig });
  const { summary, modules } = output as ICruiseResult;
  expect(modules.length).toBeGreaterThan(0);
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);
}

describe('the module graph', () => {
  let planted: string;
  beforeAll(async () => {
    planted = await mkdtemp(join(tmpdir(), 'consigliere-graph-'));
  });
  afterAll(() => rm(planted, { recursive: true, force: true }));

  async function plant(files: Record<string, string>): Promise<string[]> {
    const baseDir = await mkdtemp(join(planted, 'tree-'));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(baseDir, path)), { recursive: true });
      await writeFile(join(baseDir, path), text);
    }
    return violations(baseDir, ['src']);
  }

  it('goes one way: platform, lower features, higher features', { timeout: 60_000 }, async () => {
    expect(await violations(ROOT, ['src', 'migrations'])).toEqual([]);
  });

  it.each([
    [
      'a lower feature that imports a higher one',
      'src/features/guardian/a.ts',
      "import { b } from '../directives/b.js';\nconsole.log(b);",
      { 'src/features/directives/b.ts': 'export const b = 1;' },
      'features-level-4-import-only-lower-ones',
    ],
    [
      'a feature that imports another of its level, if only a type',
      'src/features/records/a.ts',
      "import type { B } from '../mail/b.js';\nexport type A = B;",
      { 'src/features/mail/b.ts': 'export interface B { b: number }' },
      'features-level-3-import-only-lower-ones',
    ],
    [
      'an inner file of another feature',
      'src/features/directives/a.ts',
      "import { b } from '../guardian/b.js';\nconsole.log(b);",
      { 'src/features/guardian/b.ts': 'export const b = 1;' },
      'features-have-one-door',
    ],
    [
      'an inner file of a feature, for the application',
      'src/a.ts',
      "import { b } from './features/guardian/b.js';\nconsole.log(b);",
      { 'src/features/guardian/b.ts': 'export const b = 1;' },
      'the-application-comes-by-the-doors',
    ],
    [
      'a platform file that imports a feature',
      'src/platform/auth/a.ts',
      "export const a = await import('../../features/audit/b.js');",
      { 'src/features/audit/b.ts': 'export const b = 1;' },
      'platform-knows-no-feature',
    ],
    [
      'a feature without a level',
      'src/features/novelty/a.ts',
      "export * from '../../platform/b.js';",
      { 'src/platform/b.ts': 'export const b = 1;' },
      'every-feature-has-a-level',
    ],
    [
      'a feature that imports the application',
      'src/features/audit/a.ts',
      "export { b } from '../../app.module.js';",
      { 'src/app.module.ts': 'export const b = 1;' },
      'features-know-no-application',
    ],
    [
      'a cycle inside a feature',
      'src/features/audit/a.ts',
      "import { b } from './b.js';\nexport const a = () => b;",
      { 'src/features/audit/b.ts': "import { a } from './a.js';\nexport const b = () => a;" },
      'no-circular',
    ],
    [
      'an import of a file that is not there',
      'src/features/audit/a.ts',
      "export { b } from '../directives/missing.js';",
      {},
      'no-hole-in-the-graph',
    ],
  ])('refuses %s', async (_case, path, text, others, rule) => {
    const found = await plant({ [path]: text, ...others });
    expect(found.map((violation) => violation.split(':')[0])).toContain(rule);
  });

  it('lets a higher feature import a lower one, the platform and its own files', async () => {
    const found = await plant({
      'src/features/directives/a.ts': [
        "import { b } from '../guardian/index.js';",
        "import { c } from '../../platform/c.js';",
        "import { d } from './d.js';",
        'export const a = [b, c, d];',
      ].join('\n'),
      'src/features/directives/d.ts': 'export const d = 1;',
      'src/features/guardian/index.ts': 'export const b = 1;',
      'src/platform/c.ts': 'export const c = 1;',
    });
    expect(found).toEqual([]);
  });

  it('has the levels that docs/architecture.md shows', async () => {
    const declared = await levels();
    const declaring = new Set(Object.values(declared).flat());
    expect(declaring).toEqual(new Set(await readdir(join(ROOT, 'src/features'))));

    const text = await readFile(join(ROOT, 'docs/architecture.md'), 'utf8');
    const rows = [...text.matchAll(/^\| *([1-9]\d*) *\| *([^|]*?) *\|/gm)];
    expect(
      Object.fromEntries(rows.map(([, level, names]) => [level, names!.split(', ').toSorted()])),
    ).toEqual(declared);
  });
});

/** The features of each level, by the tag in each feature's main file. */
async function levels(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { path, text } of await sources('src/features/*/*.ts')) {
    const level = /^(?:\/\*\*| \*) @level (\d+)\b/m.exec(text)?.[1];
    if (level !== undefined) (found[level] ??= []).push(ownerOf(path));
  }
  return found;
}

const READS_ENVIRONMENT =
  /\bprocess\s*\??\.\s*env\b|\bprocess\s*\[\s*['"`]env|\{[^}]*\benv\b[^}]*\}\s*(=\s*process\b|from\s*['"](node:)?process['"])/;

/** class-validator's own count of characters, which neither JSON Schema nor the database shares. */
const COUNTS_OTHERWISE =
  /import\s*(?:\*|\{[^}]*\b(?:(?:max|min)length|length)\b[^}]*\})[^;]*from\s*['"]class-validator['"]/i;

describe('the source', () => {
  let files: Source[];
  beforeAll(async () => {
    files = await sources('src/**/*.ts');
  });

  const matching = (pattern: RegExp) =>
    files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

  it('is found by this test', () => {
    expect(files.map(({ path }) => path)).toContain('src/platform/config/config.ts');
  });

  it('has no forward reference between modules or providers', () => {
    expect(matching(/\bforwardRef\s*\(/)).toEqual([]);
  });

  it('reads process.env in src/platform/config only', () => {
    expect(matching(READS_ENVIRONMENT).filter((path) => !path.startsWith('src/platform/config/'))).toEqual(
      [],
    );
  });

  it.each([
    'process.env.PORT',
    "process['env']",
    'const { argv, env } = process;',
    "import { env } from 'node:process';",
  ])('would notice %s', (text) => {
    expect(text).toMatch(READS_ENVIRONMENT);
  });

  it('limits the length of a text by src/platform/kernel/text-length.ts', () => {
    expect(matching(/^export function MaxLength\b/m)).toEqual(['src/platform/kernel/text-length.ts']);
    expect(matching(COUNTS_OTHERWISE)).toEqual([]);
  });

  it.each([
    "import { MaxLength } from 'class-validator';",
    "import {\n  IsString,\n  MinLength as Least,\n} from 'class-validator';",
    "import { IsString, Length } from 'class-validator';",
    "import { maxLength } from 'class-validator';",
    "import * as rules from 'class-validator';",
  ])('would notice %s', (text) => {
    expect(text).toMatch(COUNTS_OTHERWISE);
    expect(text.replace(/\w*length/i, 'IsInt').replace('* as rules', '{ IsInt }')).not.toMatch(
      COUNTS_OTHERWISE,
    );
  });

  it('names no file a manager, helper or util', () => {
    const vague = /(^|[-.])(manager|helper|util)s?([-.]|$)/i;
    expect(files.map(({ path }) => path).filter((path) => vague.test(basename(path)))).toEqual([]);
  });
});

/** Files whose statements may name the tables of others, each for a reason. */
const COMPOSED_READERS: Record<string, string> = {
  'src/features/accounts/accounts.repository.ts': 'an act is recorded under the name of its member',
  'src/features/accounts/sessions.repository.ts':
    'a session is shown with the name and the role of its member',
  'src/features/agents/agents.reader.ts': 'the state of a capo is the state of its work (CONTRACT: Agent)',
  'src/features/approvals/approval-background.reader.ts':
    'one statement composes where the facts of a draft come from, and who may approve it',
  'src/features/audit/receipt-chains.repository.ts': 'the receipt chain, which the platform keeps',
  'src/features/audit/receipt-log.repository.ts':
    'the receipt chain, which the platform keeps; one statement composes what left, of capos and of agents, with who let it go',
  'src/features/context/bootstrap.reader.ts': 'one statement composes what a client starts with',
  'src/features/capos/briefing.reader.ts': 'one statement composes what a capo is told before it drafts',
  'src/features/chat/chat-facts.reader.ts': 'each statement composes what one question in the chat is about',
  'src/features/chat/topics.ts': 'the kill switch and what failed are told with the receipts about them',
  'src/features/chat/found-work.ts': 'a directive is explained with its packets, decisions and approvals',
  'src/features/context/context.reader.ts': 'one statement composes the context (QUALITY: GET /context)',
  'src/features/kpi/kpi-figures.reader.ts':
    'figures that the platform keeps, by days; /metrics in one statement (CONTRACT)',
  'src/features/reports/family-report.reader.ts': 'the day of the capos is composed of what they did',
  'src/features/notifications/incidents.reader.ts':
    'members are told of what failed in a directive, and of a kill as its receipt tells it',
  'src/features/notifications/notification-choices.repository.ts':
    'one statement composes who is mailed about what, reports too',
  'src/features/setup/first-steps.reader.ts': 'one statement composes what a workspace has done first',
  'src/features/reports/report-configs.repository.ts':
    'how reports are wanted is read with the zone and the currency of the workspace',
  'src/features/reports/report-facts.reader.ts':
    'one statement composes what is open with the last receipt of that moment, and days are counted from receipts',
  'src/features/standing-orders/simulation/history.reader.ts':
    'without teams a history is the same for every reader',
  'src/features/standing-orders/surroundings-of-order.reader.ts':
    'what went out is told by the team whose work packets it was',
  'src/features/suggestions/decided-approvals.reader.ts':
    'what people have decided is read with what it was about, and an agent is told by its request and its tool',
  'src/features/tenancy/export.reader.ts': 'an export is of every table',
  'src/features/teams/invites.repository.ts':
    'an invite is shown with the names of its workspace and its team',
  'src/features/webhooks/deliveries.repository.ts':
    'when a delivery is sent next is known to the work on it, which the platform keeps',
};

/** Statements that stand in no repository or reader, each for a reason. */
const COMPOSED_ELSEWHERE: Record<string, string> = {
  'src/features/approvals/pending-approvals.ts':
    'a listing, by parts that each have an index, for the repository',
  'src/features/chat/topics.ts': 'a row for each question, with its statement, for the reader of the chat',
  'src/features/chat/found-work.ts': 'what a directive is told by, for the reader of the chat',
};

/** The text of each string and template in a file, with a gap where a template has an expression. */
function literals({ path, text }: Source): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node)) {
      found.push(
        [node.head, ...node.templateSpans.map(({ literal }) => literal)].map((part) => part.text).join(' ? '),
      );
      node.templateSpans.forEach(({ expression }) => visit(expression));
    } else if (ts.isStringLiteralLike(node)) {
      found.push(node.text);
    } else {
      ts.forEachChild(node, visit);
    }
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return found;
}

const NAME = String.raw`(?:"?[a-z_]\w*"?\s*\.\s*)?"?([a-z_]\w*)"?`;
const STATEMENT =
  /^\s*(?:(?:--[^\n]*\n|\/\*[\s\S]*?\*\/)\s*)*(with|select|insert|update|delete|merge|lock|truncate|(left |right |full |inner |cross )?join|from|using|exists|and|or|union|\()\b/i;
const TABLE = new RegExp(String.raw`\b(?:from|join|into|update|using|table|truncate|only)\s+${NAME}`, 'gi');
const CREATED = new RegExp(
  String.raw`\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?${NAME}`,
  'gi',
);
/** Our own functions. */
const CALLED = /\bapp\.(\w+)\(/g;
const ENTITY = /@Entity\(\s*(?:\{[^}]*?\bname:\s*)?'([^']+)'/g;

const firstGroups = (pattern: RegExp, text: string) =>
  [...text.matchAll(pattern)].map((match) => match[1]!.toLowerCase());

/** Tables of a feature that no entity describes, with their reasons in test/platform/entities.spec.ts. */
const OWNED_WITHOUT_ENTITY: Readonly<Record<string, string>> = {
  policies: 'standing-orders',
  standing_order_epochs: 'standing-orders',
};

/** Who owns each table: the feature of its entity, or the one named above; else the platform. */
function tableOwners(code: readonly Source[], migrations: readonly Source[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const table of migrations.flatMap(({ text }) => firstGroups(CREATED, text)))
    owners.set(table, OWNED_WITHOUT_ENTITY[table] ?? 'platform');
  for (const { path, text } of code.filter((source) => source.path.endsWith('.entity.ts'))) {
    for (const table of firstGroups(ENTITY, text)) owners.set(table, ownerOf(path));
  }
  return owners;
}

/** Each statement that names a table of someone else, as `path: table of owner`. */
function trespasses(code: readonly Source[], owners: ReadonlyMap<string, string>): string[] {
  return code.flatMap((source) => {
    const feature = ownerOf(source.path);
    const statements = literals(source).filter(
      (text) => STATEMENT.test(text) || source.path.endsWith('.repository.ts'),
    );
    const tables = new Set(statements.flatMap((text) => firstGroups(TABLE, text)));
    return [...tables]
      .filter((table) => owners.has(table) && owners.get(table) !== feature)
      .map((table) => `${source.path}: ${table} of ${owners.get(table)}`);
  });
}

/** Each statement of a feature that names a table or calls a function, and stands in no repository or reader, as `path: name`. */
function strayStatements(code: readonly Source[], owners: ReadonlyMap<string, string>): string[] {
  return code
    .filter(({ path }) => ownerOf(path) !== 'platform' && !/\.(repository|reader)\.ts$/.test(path))
    .flatMap((source) => {
      const statements = literals(source).filter((text) => STATEMENT.test(text));
      const named = statements.flatMap((text) => [
        ...firstGroups(TABLE, text).filter((table) => owners.has(table)),
        ...firstGroups(CALLED, text),
      ]);
      return [...new Set(named)].map((name) => `${source.path}: ${name}`);
    });
}

describe('the statements', () => {
  it('stand in repositories and readers', async () => {
    const code = await sources('src/features/**/*.ts');
    const owners = tableOwners(code, await sources('migrations/*.ts'));
    const found = Map.groupBy(strayStatements(code, owners), (line) => line.split(':')[0]!);
    const composed = Object.keys(COMPOSED_ELSEWHERE);
    expect(
      composed.filter((path) => !found.has(path)),
      'needs no exception',
    ).toEqual([]);
    for (const path of composed) found.delete(path);
    expect([...found.values()].flat(), 'a statement belongs into a repository or a reader').toEqual([]);
  });

  it('are noticed in a use case, and not in the repository', () => {
    const owners = new Map([['signals', 'records']]);
    const stray = (file: string, text: string) =>
      strayStatements([{ path: `src/features/records/${file}`, text }], owners);
    const read = 'const rows = await db.query(`select a.x from signals a`);';
    expect(stray('raise-signal.ts', read)).toEqual(['src/features/records/raise-signal.ts: signals']);
    expect(stray('signals.repository.ts', read)).toEqual([]);
    expect(stray('raise-signal.ts', "await db.query('select app.raise($1)');")).toEqual([
      'src/features/records/raise-signal.ts: raise',
    ]);
    expect(stray('raise-signal.ts', "throw new Error('There is none. It was taken from signals.');")).toEqual(
      [],
    );
  });

  it('name only tables of their own feature', async () => {
    const code = await sources('src/**/*.ts');
    const owners = tableOwners(code, await sources('migrations/*.ts'));
    expect(owners.size).toBeGreaterThan(0);
    const found = Map.groupBy(trespasses(code, owners), (line) => line.split(':')[0]!);
    const composed = Object.keys(COMPOSED_READERS);
    const rule = 'a table belongs to the feature that has its @Entity, else to the platform';
    expect(
      composed.flatMap((path) => (found.has(path) ? [] : [path])),
      'needs no exception',
    ).toEqual([]);
    for (const path of composed) found.delete(path);
    expect([...found.values()].flat(), rule).toEqual([]);
  });

  it('take the days of a zone from the functions that agree with the program', async () => {
    const own = /at time zone (?!'UTC')|date_trunc\(\s*'(?:day|week|month|year)'/i;
    const statements = [...(await sources('src/**/*.ts')), ...(await sources('migrations/functions/*.sql'))];
    expect(statements.filter(({ text }) => own.test(text)).map(({ path }) => path)).toEqual([
      'migrations/functions/day-of.sql',
      'migrations/functions/day-start.sql',
      'migrations/functions/zone-or-utc.sql',
    ]);
    expect("(bucket at time zone name)::date, date_trunc('day', at)").toMatch(own);
  });

  it('are caught when they reach into another feature, and only then', () => {
    const entity = (feature: string, table: string): Source => ({
      path: `src/features/${feature}/${table}.entity.ts`,
      text: `@Entity('${table}')\nexport class Row {}`,
    });
    const migration: Source = {
      path: 'migrations/1-a.ts',
      text: 'const A = `create table approvals (x int); create unlogged table if not exists app.hits (x int)`;',
    };
    const reader = (feature: string, text: string): Source => ({
      path: `src/features/${feature}/${feature}.repository.ts`,
      text,
    });
    const named: Source = {
      path: 'src/features/kpi/kpi.entity.ts',
      text: "@Entity({ schema: 'app', name: 'tiles' })\nexport class Row {}",
    };
    const owners = tableOwners(
      [entity('approvals', 'approvals'), entity('records', 'signals'), named],
      [migration],
    );
    expect(Object.fromEntries(owners)).toEqual({
      approvals: 'approvals',
      hits: 'platform',
      signals: 'records',
      tiles: 'kpi',
    });

    const both =
      'const sql = `select a.x from approvals a where ${mine} and exists (select from "app"."signals")`;';
    const found = (feature: string, text: string) => trespasses([reader(feature, text)], owners);
    expect(found('approvals', both)).toEqual([
      'src/features/approvals/approvals.repository.ts: signals of records',
    ]);
    expect(found('records', both)).toEqual([
      'src/features/records/records.repository.ts: approvals of approvals',
    ]);
    expect(found('records', "const sql = 'UPDATE hits SET x = 1';")).toHaveLength(1);
    expect(found('records', '// select from approvals\nimport { a } from "../approvals/a.js";')).toEqual([]);
    const prose: Source = {
      path: 'src/features/records/signal.dto.ts',
      text: "const text = 'Taken from approvals';",
    };
    expect(trespasses([prose], owners)).toEqual([]);
  });
});

describe('the documentation', () => {
  it('names test files that exist', async () => {
    const pages = globSync(['README.md', 'docs/**/*.md'], { cwd: ROOT });
    const named = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(ROOT, page), 'utf8');
        return [...text.matchAll(/\b(?:src|test)\/[\w./*-]+\.spec\.ts\b/g)].map(([path]) => ({ page, path }));
      }),
    );
    const all = named.flat();
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter(({ path }) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
  });

  it('links to files that exist', async () => {
    const pages = globSync(['README.md', 'docs/**/*.md'], { cwd: ROOT });
    const broken = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(ROOT, page), 'utf8');
        const links = [
          ...text.replace(/`[^`\n]*`/g, '').matchAll(/\]\((?!\w+:|#)([^)#\s]+)[^)]*\)|src="([^"]+)"/g),
        ];
        return links
          .map(([, link, picture]) => link ?? picture!)
          .filter((link) => !existsSync(join(ROOT, dirname(page), link)))
          .map((link) => `${page}: ${link}`);
      }),
    );
    expect(broken.flat()).toEqual([]);
  });

  it('has a README below 8,000 bytes and decisions of at most 500 words', async () => {
    expect((await stat(join(ROOT, 'README.md'))).size).toBeLessThan(8_000);
    const decisions = globSync('docs/decisions/*.md', { cwd: ROOT });
    expect(decisions.length).toBeGreaterThan(30);
    const lengths = await Promise.all(
      decisions.map(async (file) => {
        const text = await readFile(join(ROOT, file), 'utf8');
        return { file, words: text.trim().split(/\s+/).length };
      }),
    );
    expect(lengths.filter(({ words }) => words > 500)).toEqual([]);
  });
});
