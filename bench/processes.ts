import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';

/** A started program of the benchmark. */
export interface Process {
  url: string;
  pid: number;
  readyMs: number;
  residentMb(): number;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
// A benchmark that fails, or is broken off, leaves nothing behind.
process.on('exit', () => running.forEach((child) => child.kill('SIGTERM')));

/** Starts a program of the build and waits until it is ready; what it writes after that goes to `log`, or nowhere. */
export async function start(
  file: string,
  environment: Record<string, string>,
  log?: Writable,
): Promise<Process> {
  const began = performance.now();
  // As `npm start` runs it.
  const child = spawn(process.execPath, ['--max-semi-space-size=4', join(import.meta.dirname, file)], {
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn', TRUST_PROXY: '1', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = once(child, 'exit').finally(() => running.delete(child));
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    url = /ready at (http[^\s"]+)/.exec(line)?.[1];
    if (url) break;
  }
  if (!url) throw new Error(`${file} did not start`);
  // Unread, its output would fill the pipe, and then hold it up.
  if (log) child.stdout.pipe(log, { end: false });
  else child.stdout.resume();
  return {
    url,
    pid: child.pid!,
    readyMs: performance.now() - began,
    residentMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
