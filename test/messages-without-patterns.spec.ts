import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Checks by a regular expression whose message is the library's own, which shows the expression, as `path: code`. */
function checksWithoutWords(path: string): string[] {
  const source = ts.createSourceFile(
    path,
    readFileSync(join(ROOT, path), 'utf8'),
    ts.ScriptTarget.ESNext,
    true,
  );
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const { expression, arguments: given } = node;
      const isZod = ts.isPropertyAccessExpression(expression) && expression.name.text === 'regex';
      const isMatches = expression.getText() === 'Matches';
      // The options of a decorator may hold no message; a constant of ours that stands for them does.
      const options = given[1];
      const hasWords =
        options !== undefined &&
        !(ts.isObjectLiteralExpression(options) && !options.getText().includes('message'));
      if ((isZod || isMatches) && !hasWords) found.push(`${path}: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it('says in words what a text must look like, and never by a regular expression', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.spec.ts'));
  expect(files.length).toBeGreaterThan(500);
  expect(files.flatMap(checksWithoutWords)).toEqual([]);
});
