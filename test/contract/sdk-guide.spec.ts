import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentDesk } from '../clients/sdk/agent-desk.js';
import { Client } from '../support/client.js';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

let folder: string;
let files: string[];
let desk: AgentDesk;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-sdk-guide-'));
  const guide = await readFile(join(ROOT, 'docs/guides/clients/sdk.md'), 'utf8');
  const blocks = [...guide.matchAll(/^```ts (\S+)\n(.*?)^```$/gms)];
  files = blocks.map(([, name]) => name!);
  for (const [, name, code] of blocks) await writeFile(join(folder, name!), code!);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  desk = await AgentDesk.open();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await desk?.close();
});

const environment = (token: string) => ({
  PATH: process.env.PATH,
  CONSIGLIERE_TOKEN: token,
  CONSIGLIERE_BASE_URL: desk.test.url,
  WORKSPACE_ID: desk.test.workspaceId,
});
const output = async (file: string, more: Record<string, string> = {}) => {
  const env = { ...environment(desk.test.owner.token!), ...more };
  return (await run(process.execPath, [file], { cwd: folder, env })).stdout;
};

describe('the guide of the SDK', () => {
  it('has examples that compile', () => {
    const program = ts.createProgram(
      files.map((file) => join(folder, file)),
      {
        ...{ strict: true, noEmit: true, skipLibCheck: true, noUncheckedIndexedAccess: true },
        ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, types: ['node'] },
      },
    );
    const faults = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(faults).toEqual([]);
    expect(files).toHaveLength(9);
  });

  it('begins with a directive that is handed in, drafted and rejected', async () => {
    expect(await output('quick-start.ts')).toMatch(/^.+ [0-9a-f]{64}\nrejected\n$/);
  });

  it('shows errors, lists and waiting', async () => {
    expect(await output('errors.ts')).toMatch(/^NOT_FOUND \(req_\w+\)\n/m);
    expect(await output('lists.ts')).toMatch(/^dir_\w+\ntrue 0 0\n$/);
    expect(await output('waiting.ts')).toMatch(/^pending_approval\n1 .+\n2 .+\n$/);
  });

  it('guards a tool whose server verifies permits', async () => {
    const server = spawn(process.execPath, ['tool-server.ts'], { cwd: folder, env: environment('') });
    try {
      const [line] = (await once(server.stdout, 'data')) as [Buffer];
      const more = { CONSIGLIERE_TOKEN: desk.token, TOOL_URL: line.toString().trim() };
      expect(await output('guard.ts', more)).toBe("{ refunded: 'A-17' }\n");
      expect(await output('guard.ts', more)).toContain('It was done before, and is not done again.');
      await desk.expectStatuses('A-17', ['completed']);
    } finally {
      server.kill('SIGKILL');
      await once(server, 'exit');
    }
  });

  it('verifies events and an export', async () => {
    expect(await output('webhooks.ts')).toBe('kill.activated {}\n204 401\n');
    const { text } = await new Client(desk.test.url, desk.test.owner.token).get('/audit-feed?format=jsonl');
    await writeFile(join(folder, 'receipts.jsonl'), text);
    const { seq, hash } = JSON.parse(text.split('\n')[0]!);
    const found = await output('audit.ts', { HELD_HEAD: JSON.stringify({ seq, hash }) });
    expect(found).toContain('Every hash belongs to its receipt.');
    const other = output('audit.ts', { HELD_HEAD: JSON.stringify({ seq, hash: 'a'.repeat(64) }) });
    await expect(other).rejects.toMatchObject({ stderr: expect.stringContaining('The chain was rewritten') });
  });
});
