import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSignedExport } from '../../bench/long-export.js';
import { SYSTEM } from '../../src/platform/auth/caller.js';
import type { ReceiptContent } from '../../src/platform/receipts/receipt.js';

const run = promisify(execFile);
/** What stands in the packages of these tests alone. */
const load = (name: string) => import(name);
interface Chunk {
  type: 'chunk' | 'asset';
  code: string;
  imports: string[];
  isDynamicEntry: boolean;
}
const SDK = join(import.meta.dirname, '../../clients/sdk');
const BIN = join(import.meta.dirname, 'node_modules/.bin');
const SUBPATHS = ['', '/ai', '/openai-agents', '/langchain', '/claude-agent'];
/** The program that runs these tests, and the Node.js that is installed on the machine, where it is another. */
const PROGRAMS = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter((path) =>
  existsSync(path),
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-package-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('is as publint and attw want it', async () => {
    const { publint } = await load('publint');
    const { messages } = await publint({ pkgDir: SDK, strict: true });
    expect(messages).toEqual([]);
    // The verifier is for Node.js alone, and one file of ESM, which require() of Node.js 20.19 loads.
    const args = ['--pack', SDK, '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm'];
    const { stdout } = await run(join(BIN, 'attw'), args);
    expect(stdout).toContain('@consigliere/sdk/claude-agent');
  });

  it.each(PROGRAMS)('is loaded as ESM and as CommonJS by %s', async (program) => {
    const { stdout: version } = await run(program, ['-p', 'process.version']);
    const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
    if (major < 20 || (major === 20 && minor < 19)) return;
    const names = SUBPATHS.map((path) => `@consigliere/sdk${path}`);
    await writeFile(
      join(SDK, 'dist/loads.mjs'),
      `${names.map((name) => `console.log(Object.keys(await import('${name}')).length);`).join('\n')}
       console.log(typeof (await import('@consigliere/sdk/audit')).verify, typeof new (await import('@consigliere/sdk')).Consigliere({ token: 'a' }).kpi.get);`,
    );
    await writeFile(
      join(SDK, 'dist/loads.cjs'),
      `${names.map((name) => `console.log(Object.keys(require('${name}')).length);`).join('\n')}
       console.log(typeof require('@consigliere/sdk/audit').verify, typeof new (require('@consigliere/sdk').Consigliere)({ token: 'a' }).kpi.get);`,
    );
    try {
      const [esm, cjs] = await Promise.all(
        ['loads.mjs', 'loads.cjs'].map(
          async (file) => (await run(program, [join(SDK, 'dist', file)])).stdout,
        ),
      );
      expect(esm).toBe(cjs);
      expect(esm!.trim().split('\n').at(-1)).toBe('function function');
    } finally {
      await Promise.all(['loads.mjs', 'loads.cjs'].map((file) => rm(join(SDK, 'dist', file))));
    }
  });

  it.each(PROGRAMS)('signs, verifies and audits under %s', async (program) => {
    const receipts: ReceiptContent[] = [1, 2, 3].map((n) => ({
      ...{
        receiptId: `rcp_${n}`,
        workspaceId: 'wks_1',
        at: n,
        action: 'signal.raised',
        summary: 'It happened.',
      },
      ...{ actor: SYSTEM, entity: { type: 'signal', id: `sig_${n}` }, outcome: 'success', details: {} },
      ...{ directiveId: null, teamId: null, capo: null, guardianEpoch: null, requestId: null },
    }));
    const file = join(folder, 'export.jsonl');
    writeSignedExport(file, () => receipts);
    const { stdout } = await run(program, [join(import.meta.dirname, 'sdk-works.mjs'), file]);
    expect(stdout).toBe('works\n');
  });

  it('has a core of less than 6 KB compressed, which needs nothing of Node.js', async () => {
    const entry = join(folder, 'entry.mjs');
    await writeFile(entry, `export { Consigliere } from ${JSON.stringify(join(SDK, 'dist/esm/index.js'))};`);
    const { rolldown } = await load('rolldown');
    const bundle = await rolldown({ input: entry, platform: 'neutral' });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    // What acts for an agent is loaded when it is first used.
    const chunks = (output as Chunk[]).filter(({ type }) => type === 'chunk');
    const core = chunks.filter(({ isDynamicEntry }) => !isDynamicEntry).map(({ code }) => code);
    const [guard = ''] = chunks.filter(({ isDynamicEntry }) => isDynamicEntry).map(({ code }) => code);
    const sizes = [core.join(''), guard].map((code) => ({
      bytes: code.length,
      gzip: gzipSync(code).length,
      brotli: brotliCompressSync(code).length,
    }));
    console.table(sizes);
    expect(sizes[0]!.gzip).toBeLessThan(6_000);
    expect(guard).not.toBe('');
    expect(chunks.flatMap(({ imports }) => imports).filter((name) => !name.endsWith('.js'))).toEqual([]);
    expect(core.join('')).not.toMatch(/require\(|node:|Buffer/);
  });

  it('has no dependency', async () => {
    const { dependencies } = JSON.parse(await readFile(join(SDK, 'package.json'), 'utf8'));
    expect(dependencies).toBeUndefined();
  });
});
