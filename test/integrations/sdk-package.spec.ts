import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSignedExport } from '../../bench/long-export.js';
import { SYSTEM } from '../../src/platform/auth/caller.js';
import type { ReceiptContent } from '../../src/platform/receipts/receipt.js';
import { AgentDesk } from '../clients/sdk/agent-desk.js';
import type { Fault } from '../clients/sdk/hostile-proxy.js';
import { allFound } from '../support/programs.js';

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
const MODULES = join(import.meta.dirname, 'node_modules');
/** As npm installs it for this machine, without running its scripts. */
const [bun] = globSync('@oven/bun-*/bin/bun*', { cwd: MODULES }).map((path) => join(MODULES, path));
allFound('the SDK under Bun', { bun });
/** The Node.js that runs these tests, the one of the machine where it is 20.19 or newer, and Bun: each with what runs a file. */
const PROGRAMS: [name: string, program: string[]][] = [
  ...[process.execPath, '/usr/bin/node', '/usr/local/bin/node']
    .filter((path) => existsSync(path))
    .map((path): [string, string] => [execFileSync(path, ['-p', 'process.version']).toString().trim(), path])
    .filter(([version]) => /^v(20\.(19|[2-9]\d)|2[1-9]|[3-9]\d)\./.test(version))
    .map(([version, path]): [string, string[]] => [`Node.js ${version}`, [path]]),
  ...(bun ? [['Bun', [bun]] as [string, string[]]] : []),
];
/** Runs a file in a program, with the SDK as it was built. */
const runIn = async ([program = '', ...args]: string[], file: string, given: string[], env?: object) => {
  const options = { env: { PATH: process.env.PATH, HOME: folder, ...env }, timeout: 50_000 };
  return (await run(program, [...args, file, ...given], options)).stdout;
};

let folder: string;
let desk: AgentDesk;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-package-'));
  desk = await AgentDesk.open();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await desk?.close();
});

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

  it.each(PROGRAMS)('is loaded as ESM and as CommonJS by %s', async (title, program) => {
    const names = SUBPATHS.map((path) => `@consigliere/sdk${path}`);
    const at = join(SDK, 'dist', `loads-${title.replace(/\W/g, '')}`);
    await writeFile(
      `${at}.mjs`,
      `${names.map((name) => `console.log(Object.keys(await import('${name}')).length);`).join('\n')}
       console.log(typeof (await import('@consigliere/sdk/audit')).verify, typeof new (await import('@consigliere/sdk')).Consigliere({ token: 'a' }).kpi.get);`,
    );
    await writeFile(
      `${at}.cjs`,
      `${names.map((name) => `console.log(Object.keys(require('${name}')).length);`).join('\n')}
       console.log(typeof require('@consigliere/sdk/audit').verify, typeof new (require('@consigliere/sdk').Consigliere)({ token: 'a' }).kpi.get);`,
    );
    try {
      const [esm, cjs] = await Promise.all(['.mjs', '.cjs'].map((end) => runIn(program, at + end, [])));
      expect(esm).toBe(cjs);
      expect(esm!.trim().split('\n').at(-1)).toBe('function function');
    } finally {
      await Promise.all(['.mjs', '.cjs'].map((end) => rm(at + end)));
    }
  });

  it.each(PROGRAMS)('signs, verifies and audits under %s', async (_name, program) => {
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
    expect(await runIn(program, join(import.meta.dirname, 'sdk-works.mjs'), [file])).toBe('works\n');
  });

  it.each(PROGRAMS)('has one effect for each change over a bad network under %s', async (name, program) => {
    const FAULTS: (Fault | undefined)[] = [
      ...['reset', undefined, 'lost answer', undefined, 'cut body', undefined, 'slow body', undefined],
      ...['two answers', undefined, 'bad gateway', undefined, 'silence', undefined],
      ...[{ status: 429, headers: { 'Retry-After': '0' } }, undefined, { status: 503 }, undefined],
    ] as (Fault | undefined)[];
    let sent = 0;
    desk.fault = ({ path }) =>
      path.includes('/action-requests') ? undefined : FAULTS[sent++ % FAULTS.length];
    const env = {
      CONSIGLIERE_BASE_URL: desk.proxy.url,
      STEADY_URL: desk.test.url,
      MEMBER_TOKEN: desk.test.owner.token,
      AGENT_TOKEN: desk.token,
    };
    expect(await runIn(program, join(import.meta.dirname, 'sdk-runs.mjs'), [name], env)).toBe('runs\n');
    const effects = await desk.test.rows<{ times: number }>(
      'select count(*)::int as times from revenue_events where source like $1 group by source',
      [`${name} %`],
    );
    expect(effects).toEqual(Array.from({ length: 12 }, () => ({ times: 1 })));
    await desk.expectStatuses(name, ['completed', 'denied']);
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
