import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const DASHBOARD = join(ROOT, 'clients/dashboard');

/** Operations that no page of the dashboard calls, each with the reason. A route in two spellings stands here once. */
const ELSEWHERE: Record<string, string> = {
  'actions.consume': 'An agent begins to act.',
  'actions.report': 'An agent says what came of it.',
  'actions.request': 'An agent asks; a person hands in a directive.',
  'auditFeed.getHead': 'The verifier compares it with what it holds; a page verifies by /verify.',
  'auditFeed.listKeys': 'The verifier reads them outside the service.',
  'feed.list': 'The page reads the same entries as a stream.',
  'invites.accept': 'The service has a page of its own for it, which works without a script.',
  'partner.getAvatar': 'The capo view shows the persona, out of GET /context.',
  'partner.getIntelligence': 'The capo view shows the persona, out of GET /context.',
  'partner.induct': 'The partner persona service calls it, with a signature.',
  'password.reset': 'The service has a page of its own for it, which works without a script.',
  'questions.cancel': 'An agent takes its question back; a person answers or declines it.',
  'questions.create': 'An agent asks.',
  'questions.list': 'The inbox lists each question as its approval.',
  'webhooks.create': 'The page makes a webhook with a new secret, and rotates it to a chosen one.',
};

interface Operation {
  operationId: string;
  'x-alias-of'?: string;
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** The operation of a method of the SDK: `client.directives.get` is declared by the interface Directives. */
function operationOf(symbol: ts.Symbol | undefined): string[] {
  return (symbol?.declarations ?? []).flatMap(({ parent }) => {
    if (!ts.isInterfaceDeclaration(parent)) return [];
    if (!/\/clients\/sdk\/dist\/.*\.d\.ts$/.test(parent.getSourceFile().fileName)) return [];
    // What is added to the generated methods, such as `feed.stream`, stands in FeedMethods.
    return [`${lowerFirst(parent.name.text.replace(/Methods$/, ''))}.${symbol!.name}`];
  });
}

/** Every operation that a file which main.tsx imports names, as the type checker resolves it. Routes called by their path are paths. */
function calledByPages(): Set<string> {
  const configFile = join(DASHBOARD, 'tsconfig.json');
  const { config } = ts.readConfigFile(configFile, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, DASHBOARD, undefined, configFile);
  const program = ts.createProgram([join(DASHBOARD, 'src/main.tsx')], options);
  const checker = program.getTypeChecker();
  const called = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) {
      operationOf(checker.getSymbolAtLocation(node.name)).forEach((one) => called.add(one));
    } else if (ts.isElementAccessExpression(node)) {
      const of = checker.getTypeAtLocation(node.expression);
      const named = checker.getTypeAtLocation(node.argumentExpression);
      for (const type of named.isUnion() ? named.types : [named]) {
        if (!type.isStringLiteral()) continue;
        operationOf(checker.getPropertyOfType(of, type.value)).forEach((one) => called.add(one));
      }
    } else if (ts.isCallExpression(node)) {
      const [verb, path] = node.arguments;
      if (verb && path && ts.isStringLiteral(verb) && ts.isStringLiteral(path))
        called.add(`${verb.text} ${path.text}`);
    }
    ts.forEachChild(node, visit);
  };
  for (const file of program.getSourceFiles()) {
    if (file.fileName.startsWith(join(DASHBOARD, 'src/'))) visit(file);
  }
  return called;
}

describe('what a person may use', () => {
  /** By the verb and path of each operation of a person: its id. */
  const operations = new Map<string, string>();
  let called: Set<string>;
  let uncalled: string[];

  beforeAll(async () => {
    const document = JSON.parse(await readFile(join(ROOT, 'docs/reference/openapi.json'), 'utf8')) as {
      paths: Record<string, Record<string, Operation>>;
    };
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [verb, { operationId, 'x-alias-of': aliasOf }] of Object.entries(item)) {
        if (/^\/api\/(pro|admin)\//.test(path) && aliasOf === undefined)
          operations.set(`${verb.toUpperCase()} ${path}`, operationId);
      }
    }
    called = calledByPages();
    const isCalled = (route: string) => called.has(route) || called.has(operations.get(route) ?? '');
    /** The same by token and by session. */
    const spellings = (route: string) => [
      route,
      route.replace('/api/pro/', '/api/admin/'),
      route.replace('/api/admin/', '/api/pro/'),
    ];
    uncalled = [...operations.keys()]
      .filter((route) => !spellings(route).some(isCalled))
      // Of two spellings the first stands for both.
      .filter(
        (route) => !operations.has(route.replace('/api/admin/', '/api/pro/')) || route.includes('/pro/'),
      )
      .map((route) => operations.get(route)!);
  }, 60_000);

  it('is found in the pages at all', () => {
    expect(operations.size).toBeGreaterThan(190);
    expect([...called]).toEqual(
      expect.arrayContaining([
        'directives.queue',
        'feed.stream',
        'adminTokens.revoke',
        'GET /api/pro/audit-feed',
      ]),
    );
  });

  it('is called by a page of the dashboard, or listed with the reason', () => {
    expect(uncalled.toSorted()).toEqual(Object.keys(ELSEWHERE).toSorted());
  });
});
