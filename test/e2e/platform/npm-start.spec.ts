import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const ROOT = join(import.meta.dirname, '../../..');
/** As a person starts it: npm runs on the Node.js of the machine, and only its script on the project's. */
const PATH = process.env
  .PATH!.split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);
/** Unlike bash, it stays beside the last command that it runs. A machine without it has another one. */
const DASH = existsSync('/usr/bin/dash') ? '/usr/bin/dash' : '/bin/sh';
const BASH = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
const GOODBYE = 'Consigliere has stopped. Goodbye.';

/** Each with all that it starts in a process group of its own. */
const started: number[] = [];
let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'consigliere-npm-'));
});
afterAll(async () => {
  for (const pid of started) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // They have ended, as they should.
    }
  }
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** `npm start` with this shell for its scripts, once the service listens. */
async function npmStart(shell: string) {
  const npm = spawn('npm', ['start', `--script-shell=${shell}`], {
    cwd: ROOT,
    detached: true,
    env: {
      PATH,
      HOME: folder,
      npm_config_update_notifier: 'false',
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(npm.pid!);
  let output = '';
  npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(npm, 'exit');
  // All who write to it have ended when the output ends: npm, a shell and the service.
  const allEnded = text(npm.stdout);
  const url = await new Promise<string>((resolve, reject) => {
    npm.stdout.on('data', () => {
      const found = /ready at (http[^\s"]+)/.exec(output)?.[1];
      if (found) resolve(found);
    });
    npm.once('exit', () => reject(new Error(`it did not get ready:\n${output}`)));
  });
  return { pid: npm.pid!, url, ended, allEnded };
}

describe.concurrent('npm start', { timeout: 60_000 }, () => {
  it.each<[string, NodeJS.Signals]>([
    [DASH, 'SIGTERM'],
    [DASH, 'SIGINT'],
    [BASH, 'SIGTERM'],
  ])('by %s: %s ends npm when the service has ended, and not before', async (shell, signal) => {
    const { pid, url, ended, allEnded } = await npmStart(shell);
    process.kill(pid, signal);
    await ended;
    await expect(fetch(`${url}/health/live`)).rejects.toThrow('fetch failed');
    expect(await allEnded).toContain(GOODBYE);
  });

  it.each<[string, NodeJS.Signals]>([
    [DASH, 'SIGHUP'],
    [DASH, 'SIGKILL'],
    [BASH, 'SIGKILL'],
  ])('by %s: %s, which npm does not pass on, ends the service in good order', async (shell, signal) => {
    const { pid, allEnded } = await npmStart(shell);
    process.kill(pid, signal);
    expect(await allEnded).toContain(GOODBYE);
  });
});
