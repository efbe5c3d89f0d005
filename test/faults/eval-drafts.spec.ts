import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

interface Outcome {
  code: number | string;
  stdout: string;
  stderr: string;
}

/** Needs `nest build`. */
function run(args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(ROOT, 'dist/scripts/eval-drafts.js'), ...args],
      { cwd: ROOT, env: { PATH: process.env['PATH'], ...env } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

describe('npm run eval:drafts', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consigliere-evals-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('prints what one draft got right, the draft, and the totals', async () => {
    const json = join(folder, 'results.json');
    const { code, stdout } = await run(['--only', 'en-001', '--json', json]);
    expect(code).toBe(0);
    expect(stdout).toContain('Instructions: 1, drafted by builtin');
    expect(stdout).toMatch(
      /^en-001 +mail +capo_ops +right action: yes +right recipients: yes +nothing invented: yes/m,
    );
    expect(stdout).toContain('"to": [\n          "jane@acme.example"\n        ]');
    expect(stdout).toContain('| all | 1 | 1 | 1 | 1 | 1 | 1 | 1 |');
    expect(JSON.parse(await readFile(json, 'utf8'))).toMatchObject([
      { instruction: { id: 'en-001', set: 'dev' }, capo: 'capo_ops', findings: [] },
    ]);
  });

  // Three runs over all instructions.
  it(
    'writes the results between the markers of a file, and checks that they are current',
    { timeout: 120_000 },
    async () => {
      const file = join(folder, 'drafts.md');
      await writeFile(file, 'Before\n\n<!-- results:begin -->\n<!-- results:end -->\n\nAfter\n');
      const stale = `${file} is not what npm run eval:drafts -- --write ${file} would write.\n`;
      const before = await run(['--write', file, '--check']);
      expect(before).toMatchObject({ code: 1, stdout: '' });
      expect(before.stderr).toContain(stale);
      await run(['--write', file]);
      const written = await readFile(file, 'utf8');
      expect(written).toMatch(
        /^Before\n\n<!-- results:begin -->\n[^]+\| en-001 \| mail \|[^]+<!-- results:end -->\n\nAfter\n$/,
      );
      const after = await run(['--write', file, '--check']);
      expect(after.stdout).toBe('');
      expect(after.stderr).not.toContain(stale);
    },
  );

  it.each([
    [['--set', 'secret'], 'There is no set “secret”: use dev, held-out, fresh or all.'],
    [['--only', 'en-999', '--set', 'dev'], 'There is no case en-999 in dev.'],
    [['--set', 'dev', '--write', 'x.md'], '--write needs all cases.'],
  ])('refuses %j with one sentence', async (args, message) => {
    expect(await run(args)).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
  });

  it('writes no results of a model: they are not the same twice', async () => {
    const model = { MODEL_PROVIDER: 'openai', MODEL_API_KEY: 'sk-x', MODEL_NAME: 'm' };
    expect(await run(['--write', 'docs/drafts.md'], model)).toEqual({
      code: 1,
      stdout: '',
      stderr: '--write is for the results of the built-in runner: unset MODEL_PROVIDER.\n',
    });
  });

  it('refuses a configuration that names no usable runner', async () => {
    const { code, stdout, stderr } = await run([], { MODEL_PROVIDER: 'openai' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('MODEL_API_KEY');
    expect(stderr).not.toContain('    at ');
  });

  describe('with a model', () => {
    const mock = new LLMock({ port: 0, logLevel: 'silent' });
    beforeAll(() => mock.start());
    afterAll(() => mock.stop());

    const withModel = () => ({
      MODEL_PROVIDER: 'openai-compatible',
      MODEL_BASE_URL: `${mock.url}/v1`,
      MODEL_NAME: 'small-model',
      MODEL_PRICE_INPUT: '1000',
      MODEL_PRICE_OUTPUT: '1000',
    });
    const answers = (params: Record<string, unknown>) => {
      mock.reset();
      const packet = {
        title: 'Mail',
        type: 'email.send',
        target: 'lucy',
        params,
        rationale: 'It was asked for.',
        multipliers: [],
      };
      const usage = { prompt_tokens: 900, completion_tokens: 100 };
      mock.on({}, { content: JSON.stringify({ summary: 'Ready.', packets: [packet] }), usage });
    };

    it('lets it word what was only described, and prints what it cost', async () => {
      answers({
        to: ['lucy@fernhill.example'],
        cc: null,
        subject: 'Your parcel',
        body: 'Hello Lucy,\n\nyour parcel is at the customs. We write again by Tuesday.\n\nMara Klein',
      });
      const { code, stdout, stderr } = await run(['--only', 'en-005'], withModel());
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('Instructions: 1, drafted by openai-compatible small-model');
      expect(stdout).toContain('| all | 1 | 1 | 1 | 1 | 1 | 1 | 1 |');
      expect(stdout).toContain('1.0000 USD');
    });

    it('lets it route what names no capo, and falls back to the words', async () => {
      answers({ to: ['rob@pipefix.example'], cc: null, subject: 'Tomorrow', body: 'Somebody is at home.' });
      expect((await run(['--only', 'mx-001'], withModel())).stdout).toMatch(
        /^mx-001 +mail +capo_(?!marketing)/m,
      );
      mock.reset();
      const routing = { capos: ['capo_marketing'], reason: 'It is content.', candidates: [] };
      mock.on({}, { content: JSON.stringify(routing) });
      expect((await run(['--only', 'mx-001'], withModel())).stdout).toMatch(
        /^mx-001 +mail +capo_marketing /m,
      );
    });

    it('finds what it invented, and exits with 0: a model is measured, not held to a promise', async () => {
      answers({
        to: ['lucy@fernhill.example', 'lucy@gmail.example'],
        cc: null,
        subject: 'Your parcel',
        body: 'Hello Lucy,\n\nyour parcel is at the customs until Tuesday. You get 15 EUR back.',
      });
      const { code, stdout } = await run(['--only', 'en-005'], withModel());
      expect(code).toBe(0);
      expect(stdout).toContain('right recipients: lucy@gmail.example should not be in to');
      expect(stdout).toContain(
        'nothing invented: the address lucy@gmail.example of the email.send stands nowhere',
      );
      expect(stdout).toContain('nothing invented: the number 15 of the email.send stands nowhere');
    });

    it('counts a call that failed as a draft that is not there', async () => {
      mock.reset();
      mock.on(
        {},
        { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' }, status: 401 },
      );
      const { code, stdout } = await run(['--only', 'en-005'], withModel());
      expect(code).toBe(0);
      expect(stdout).toContain('right action: the runner failed (');
      expect(stdout).toContain('Incorrect API key provided');
    });
  });
});
