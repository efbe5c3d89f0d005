import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Where the project's files are. */
export const ROOT = join(import.meta.dirname, '../..');

/** A test that a page names. */
export interface NamedTest {
  file: string;
  name: string;
}

/** Each name in typographic quotes, with the spec file that stands before it. */
export function testsIn(text: string): NamedTest[] {
  const tests: NamedTest[] = [];
  let file: string | undefined;
  for (const [, path, name] of text.matchAll(/`([\w./-]+\.spec\.ts)`|“([^”]+)”/g)) {
    if (path !== undefined) file = path;
    else if (file !== undefined) tests.push({ file, name: name! });
  }
  return tests;
}

/** What a spec file says of itself. */
export interface Spec {
  text: string;
  /** What its tests and groups are called, without those that are skipped. */
  titles: string[];
}

export function specOf(file: string, text: string): Spec {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      const called = node.expression.getText(source);
      const isTest = /^(describe|it)\b/.test(called) && !/\.(skip|todo|fails)\b/.test(called);
      if (isTest && first && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first))) {
        titles.push(ts.isStringLiteralLike(first) ? first.text : first.getText(source).slice(1, -1));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { text, titles };
}

/** The spec with what it runs from files beside it, where several specs share tests. */
export async function readSpec(file: string): Promise<Spec> {
  const own = await readFile(join(ROOT, file), 'utf8');
  const beside = [...own.matchAll(/from '((?:\.|\.\.\/e2e\/[\w-]+)\/[\w-]+)\.js'/g)].map(([, path]) =>
    join(dirname(file), `${path}.ts`),
  );
  const texts = await Promise.all(beside.map((path) => readFile(join(ROOT, path), 'utf8')));
  const specs = [own, ...texts].map((text) => specOf(file, text));
  return { text: specs.map(({ text }) => text).join('\n'), titles: specs.flatMap(({ titles }) => titles) };
}

/** `%s` of a table, `$name` of its objects, `${...}` of a loop. */
const PLACEHOLDER = /%[sdijf]|\$\{[^}]*\}|\$\w+/g;

/** Whether a test of the spec has this name; what stands where its title has a placeholder must stand in the spec too. */
export function hasTest({ text, titles }: Spec, name: string): boolean {
  return titles.some((title) => {
    if (title === name) return true;
    const parts = title.split(PLACEHOLDER);
    if (parts.length === 1 || parts.every((part) => part === '')) return false;
    const pattern = new RegExp(
      `^${parts.map((part) => part.replace(/[^\p{L}\p{N}\s]/gu, '\\$&')).join('(.+)')}$`,
    );
    const values = pattern.exec(name)?.slice(1);
    return values?.every((value) => text.includes(value)) ?? false;
  });
}

/** Those of the named tests that there are not. */
export async function missingOf(named: readonly NamedTest[]): Promise<NamedTest[]> {
  const files = [...new Set(named.map(({ file }) => file))];
  const specs = new Map(
    await Promise.all(
      files.map(async (file) => [file, await readSpec(file).catch(() => undefined)] as const),
    ),
  );
  return named.filter(({ file, name }) => {
    const spec = specs.get(file);
    return !spec || !hasTest(spec, name);
  });
}
