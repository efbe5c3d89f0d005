import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.js';

const GUIDE = join(import.meta.dirname, '../../docs/guides/admin-area.md');

let test: TestApp;
let folder: string;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
  folder = await mkdtemp(join(tmpdir(), 'consigliere-guide-'));
  await symlink(test.dataDir, join(folder, '.data'));
});
afterAll(async () => {
  await test.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the guide to the admin area', () => {
  it('runs as it is printed, from the sign-in to the sign-out', async () => {
    const text = await readFile(GUIDE, 'utf8');
    const script = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block).join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: { PATH: process.env.PATH, TMPDIR: folder, ADMIN: `${test.url}/api/admin` },
    });
    // One line for each answer.
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { error?: unknown });
    expect(answers).toHaveLength(script.match(/^(admin|pro) [A-Z]/gm)!.length);
    for (const answer of answers) expect(answer.error, JSON.stringify(answer)).toBeUndefined();
    const [session] = await test.rows('select ended_at from sessions');
    expect(session!['ended_at']).not.toBeNull();
    const made = await test.rows('select name from teams');
    expect(made).toEqual([{ name: 'Marketing' }]);
  });
});
