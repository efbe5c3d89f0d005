import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STARTS_WITHIN_MS = 20_000;
const ENDS_WITHIN_MS = 10_000;

/** Where a program is on this machine, undefined when it is not installed. Servers are often on the PATH of root only. */
export function programPath(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** A server that is installed on this machine, in the foreground. */
export interface RunningProgram {
  /** What it wrote so far. */
  output(): string;
  /** SIGTERM, or as `end` says. */
  stop(): Promise<void>;
}

/** Starts a server; answers once all of its ports take connections. */
export async function startProgram(
  path: string,
  flags: string[],
  ports: number[],
  end: (child: ChildProcess) => unknown = (child) => child.kill('SIGTERM'),
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> = {},
): Promise<RunningProgram> {
  const child = spawn(path, flags, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    if (isRunning()) {
      await end(child);
      const late = setTimeout(kill, ENDS_WITHIN_MS);
      await exited;
      clearTimeout(late);
    }
    process.off('exit', kill);
  };
  const until = Date.now() + STARTS_WITHIN_MS;
  for (const port of ports) {
    while (!(await takesConnections(port))) {
      if (isRunning() && Date.now() < until) await sleep(20);
      else {
        await stop();
        throw new Error(`${path} did not start:\n${output}`);
      }
    }
  }
  return { output: () => output, stop };
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Whether all of these programs were found; says in a line which were not. */
export function allFound(what: string, programs: Record<string, string | undefined>): boolean {
  const missing = Object.keys(programs).filter((name) => programs[name] === undefined);
  if (missing.length > 0) {
    console.warn(
      `skipped: ${what} is not tried, since this is not installed on this machine: ${missing.join(', ')}`,
    );
  }
  return missing.length === 0;
}
