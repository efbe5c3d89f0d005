import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ProcessPool } from '../../src/platform/processes/process-pool.js';
import { eventually } from '../support/test-app.js';
import type { Act } from './hostile-process.js';

const entry = new URL('./hostile-process.js', import.meta.url);
const never = new AbortController().signal;

function pool(size = 1, timeLimitMs = 500) {
  const created = new ProcessPool<Act, unknown>({ entry, size, timeLimitMs, memoryLimitMb: 32 });
  onTestFinished(() => created.close());
  return created;
}

const isAlive = (pid: unknown) => {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

describe('a pool of processes', () => {
  it('answers from a process of its own, and keeps it', async () => {
    const processes = pool();
    const pid = await processes.run('tell its process', never);
    expect(pid).not.toBe(process.pid);
    expect(await processes.run('answer', never)).toBe('the answer');
    expect(await processes.run('tell its process', never)).toBe(pid);
  });

  it('gives its processes no setting and no secret of the service', async () => {
    expect(await pool().run('tell its environment', never)).toEqual([]);
  });

  it.each<[Act, object]>([
    ['loop', { reason: 'timeout', message: 'The call needed more than 0.5 s.' }],
    ['backtrack', { reason: 'timeout' }],
    ['fill the heap', { reason: 'memory', message: 'The call needed more than 32 MB of memory.' }],
    ['allocate at once', { reason: 'memory' }],
    ['exit', { reason: 'crashed', message: 'The process ended with code 3.' }],
    ['be killed', { reason: 'crashed', message: 'The process ended with SIGKILL.' }],
  ])('survives a call that would %s, and starts another process', async (act, failure) => {
    const processes = pool(1, act === 'loop' || act === 'backtrack' ? 500 : 30_000);
    const before = await processes.run('tell its process', never);
    await expect(processes.run(act, never)).rejects.toMatchObject({ name: 'CallFailed', ...failure });
    const after = await processes.run('tell its process', never);
    expect(after).not.toBe(before);
    await eventually(async () => !isAlive(before));
  });

  it.each<[Act, string, string]>([
    ['throw', 'TypeError', 'This text is beyond me.'],
    ['throw a string', 'Error', 'no error'],
    ['exhaust the stack', 'RangeError', 'Maximum call stack size exceeded'],
  ])('tells what a call that would %s threw, and keeps the process', async (act, thrownName, message) => {
    const processes = pool();
    const pid = await processes.run('tell its process', never);
    await expect(processes.run(act, never)).rejects.toMatchObject({ reason: 'threw', thrownName, message });
    expect(await processes.run('tell its process', never)).toBe(pid);
  });

  it('ends a call at once when it is aborted, whatever the call does', async () => {
    const processes = pool(1, 60_000);
    const pid = await processes.run('tell its process', never);
    const controller = new AbortController();
    const run = processes.run('loop', controller.signal);
    controller.abort();
    await expect(run).rejects.toMatchObject({ reason: 'aborted' });
    await eventually(async () => !isAlive(pid));
    expect(await processes.run('answer', never)).toBe('the answer');
  });

  it('does not begin a call that was aborted before', async () => {
    await expect(pool().run('answer', AbortSignal.abort())).rejects.toMatchObject({ reason: 'aborted' });
  });

  it('lets a call leave that waits for its turn, and serves those behind it', async () => {
    const processes = pool(1, 60_000);
    const busy = new AbortController();
    const looping = processes.run('loop', busy.signal);
    const leaving = new AbortController();
    const left = processes.run('answer', leaving.signal);
    const behind = processes.run('answer', never);
    leaving.abort();
    await expect(left).rejects.toMatchObject({ reason: 'aborted' });
    busy.abort();
    await expect(looping).rejects.toMatchObject({ reason: 'aborted' });
    expect(await behind).toBe('the answer');
  });

  it('serves others while a call loops', async () => {
    const processes = pool(2, 60_000);
    const controller = new AbortController();
    const looping = processes.run('loop', controller.signal);
    const others = await Promise.all(Array.from({ length: 50 }, () => processes.run('answer', never)));
    expect(new Set(others)).toEqual(new Set(['the answer']));
    controller.abort();
    await expect(looping).rejects.toMatchObject({ reason: 'aborted' });
  });

  it('starts no more processes than its size', async () => {
    const processes = pool(2, 30_000);
    const pids = await Promise.all(
      Array.from({ length: 20 }, () => processes.run('tell its process', never)),
    );
    expect(new Set(pids).size).toBe(2);
  });

  it.runIf(process.platform === 'linux')('is not late while the machine gives it no time', async () => {
    const processes = pool(1, 500);
    const pid = Number(await processes.run('tell its process', never));
    process.kill(pid, 'SIGSTOP');
    const answer = processes.run('answer', never);
    await new Promise((passed) => setTimeout(passed, 1_500));
    process.kill(pid, 'SIGCONT');
    expect(await answer).toBe('the answer');
  });

  it('replaces a process that was ended while it had nothing to do', async () => {
    const processes = pool();
    const pid = Number(await processes.run('tell its process', never));
    process.kill(pid, 'SIGKILL');
    // Until the end is known here, a call may still be given to it; that one fails as any crash does.
    const next = await eventually(() => processes.run('tell its process', never).catch(() => undefined));
    expect(next).not.toBe(pid);
  });

  it('calls off what is under way when it is closed, and leaves no process', async () => {
    const processes = pool(1, 60_000);
    const pid = await processes.run('tell its process', never);
    const looping = processes.run('loop', never);
    const waiting = processes.run('answer', never);
    const ended = Promise.allSettled([looping, waiting]);
    await processes.close();
    expect(await ended).toMatchObject([{ reason: { reason: 'aborted' } }, { reason: { reason: 'aborted' } }]);
    expect(isAlive(pid)).toBe(false);
    await expect(processes.run('answer', never)).rejects.toMatchObject({ reason: 'aborted' });
  });

  it('says that a process could not start when its code is not there', async () => {
    const missing = new ProcessPool({
      entry: new URL('./missing.js', import.meta.url),
      size: 1,
      timeLimitMs: 500,
      memoryLimitMb: 32,
    });
    await expect(missing.run('answer', never)).rejects.toMatchObject({ reason: 'crashed' });
  });
});

/** Runs `script` in a process of its own over the sources; answers what it printed. */
async function hosted(script: string): Promise<string> {
  const preload = new URL('../support/typescript-sources.mjs', import.meta.url).href;
  const source = JSON.stringify(
    new URL('../../src/platform/processes/process-pool.ts', import.meta.url).href,
  );
  const program = `
    const { ProcessPool } = await import(${source});
    const never = new AbortController().signal;
    const processes = new ProcessPool({
      entry: new URL(${JSON.stringify(entry.href)}), size: 1, timeLimitMs: 300, memoryLimitMb: 32,
    });
    ${script}`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    '--experimental-transform-types',
    '--input-type=module',
    `--import=${preload}`,
    '-e',
    program,
  ]);
  return stdout.trim();
}

describe('the processes of a pool', () => {
  let pid: string;
  afterEach(() => eventually(async () => !isAlive(pid)));
  afterAll(() => expect(isAlive(pid)).toBe(false));

  it('keep their host from ending only while a call is under way', async () => {
    pid = await hosted("console.log(await processes.run('tell its process', never));");
    expect(Number(pid)).toBeGreaterThan(0);
  });

  it('keep their host until they are closed', async () => {
    pid = await hosted(`
      const pid = await processes.run('tell its process', never);
      await processes.close();
      console.log(pid);`);
    expect(Number(pid)).toBeGreaterThan(0);
  });

  it('end when their host is killed, even in the midst of a loop', async () => {
    const printed = hosted(`
      console.log(await processes.run('tell its process', never));
      processes.run('loop', never);
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50);`);
    pid = await printed.catch((error: { stdout: string }) => error.stdout.trim());
    expect(Number(pid)).toBeGreaterThan(0);
  });
});
