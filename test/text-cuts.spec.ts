import { globSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const CUTTER = 'src/platform/kernel/text.ts';

/** Where a text of our own is cut, not one that people, models or servers wrote. */
const OWN_TEXT: Record<string, string> = {
  'src/features/tenancy/send-deletion-mail.ts': 'the id of a piece of work begins with the id of a member',
};
/** What these answer is plain ASCII. */
const ASCII = /(?:\bsha256\(.*\)|\.digest\('hex'\)|\.toISOString\(\))$/s;

/** Each place that shortens a string to a length chosen beforehand, as `path: code`. */
function cuts(files: readonly string[], texts: Readonly<Record<string, string>> = {}): string[] {
  const options: ts.CompilerOptions = {
    ...ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config.compilerOptions,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2024.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noEmit: true,
    incremental: false,
    tsBuildInfoFile: undefined,
  };
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  host.fileExists = (path) => path in texts || disk.fileExists(path);
  host.readFile = (path) => texts[path] ?? disk.readFile(path);
  host.getSourceFile = (path, language, ...rest) =>
    path in texts
      ? ts.createSourceFile(path, texts[path]!, language)
      : disk.getSourceFile(path, language, ...rest);
  const program = ts.createProgram([...files], options, host);
  const checker = program.getTypeChecker();
  const found: string[] = [];
  for (const file of files) {
    const source = program.getSourceFile(file)!;
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && isCut(node, checker)) found.push(`${file}: ${node.getText(source)}`);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found.map((cut) => cut.replace(`${ROOT}/`, '').replaceAll(/\s+/g, ' '));
}

function isCut({ expression, arguments: [start, end] }: ts.CallExpression, checker: ts.TypeChecker): boolean {
  if (!ts.isPropertyAccessExpression(expression)) return false;
  if (!/^(?:slice|substring|substr)$/.test(expression.name.text)) return false;
  const type = checker.getNonNullableType(checker.getTypeAtLocation(expression.expression));
  if (!(type.flags & ts.TypeFlags.StringLike)) return false;
  // A position found in the text itself is no length chosen beforehand.
  const isChosen =
    end !== undefined && /^(?:[\d_]+|[A-Z][A-Z\d_]*(?:\.\w+)?|max\w*|limit)\b/.test(end.getText());
  return start?.getText() === '0' && isChosen && !ASCII.test(expression.expression.getText());
}

describe('text that people, models and servers wrote', () => {
  it('is cut by cutText only', { timeout: 60_000 }, () => {
    const files = globSync('src/**/*.ts', { cwd: ROOT })
      .filter((path) => !path.endsWith('.spec.ts'))
      .map((path) => join(ROOT, path));
    expect(files).toContain(join(ROOT, CUTTER));
    const found = cuts(files).map((cut) => ({ cut, path: cut.split(':')[0]! }));
    expect(found.filter(({ path }) => !(path in OWN_TEXT)).map(({ cut }) => cut)).toEqual([]);
    const unneeded = Object.keys(OWN_TEXT).filter((each) => !found.some(({ path }) => path === each));
    expect(unneeded, 'an exception that is not needed any more goes').toEqual([]);
  });

  it('is found where it is cut otherwise, and only there', { timeout: 60_000 }, () => {
    const file = join(ROOT, 'src/planted.ts');
    const text = `
      import { createHash } from 'node:crypto';
      declare const title: string;
      declare const perhaps: string | undefined;
      declare const list: string[];
      const MAX = 10;
      export const cut = [title.slice(0, 119), perhaps?.slice(0, MAX), title.substring(0, 20), title.slice(0, MAX - 1)];
      export const fine = [
        list.slice(0, 3), title.slice(1), title.slice(0, title.indexOf(' ')), title.slice(0, -1),
        createHash('sha256').digest('hex').slice(0, 16), new Date().toISOString().slice(0, 10),
      ];`;
    expect(cuts([file], { [file]: text })).toEqual([
      'src/planted.ts: title.slice(0, 119)',
      'src/planted.ts: perhaps?.slice(0, MAX)',
      'src/planted.ts: title.substring(0, 20)',
      'src/planted.ts: title.slice(0, MAX - 1)',
    ]);
  });
});
