import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, fchownSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { binary, isWindows, programEnvironment } from './binaries.js';
import type { ServerLocation } from './location.js';
import { isAlive, isStillRunning, readPidFile } from './process.js';
import { isRoot, runAs } from './user.js';

/** A server process. */
export interface Postmaster {
  running(): boolean;
  /** Fast: roll back, checkpoint, end. Immediate: end, and recover at the next start. */
  shutDown(mode: 'fast' | 'immediate'): void;
  /** The last lines it logged, since its launch if we launched it. */
  logTail(): string;
}

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const TAIL_LINES = 20;
const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

/**
 * Starts the server in a session of its own, so that a Ctrl-C in our terminal reaches us only and the
 * database is there while we drain. `settings` become `-c` flags.
 */
export function launchPostmaster(location: ServerLocation, settings: Record<string, string>): Postmaster {
  const log = `${location.directory}.log`;
  rotate(log);
  const fd = openLog(log);
  try {
    const logTail = tailOf(log, statSync(log).size);
    return isWindows
      ? launchOnWindows(location, settings, log, logTail)
      : launchOnUnix(location, settings, fd, logTail);
  } finally {
    closeSync(fd);
  }
}

function launchOnUnix(
  { directory, native, user }: ServerLocation,
  settings: Record<string, string>,
  fd: number,
  logTail: () => string,
): Postmaster {
  const program = binary(native, 'postgres');
  const child = spawn(program, ['-D', directory, ...flags(settings)], {
    ...runAs(user),
    cwd: dirname(program),
    env: programEnvironment,
    detached: true,
    stdio: ['ignore', fd, fd],
  });
  const failure = watch(child);
  return {
    running: () => isRunning(child),
    shutDown: (mode) => void child.kill(SIGNALS[mode]),
    logTail: () => failure() ?? logTail(),
  };
}

/**
 * Through pg_ctl: PostgreSQL refuses an administrator's rights, which pg_ctl takes off, and its
 * stand-in for signals is pg_ctl's as well. pg_ctl wants the flags as one text, so no setting may hold a space.
 */
function launchOnWindows(
  { directory, native }: ServerLocation,
  settings: Record<string, string>,
  log: string,
  logTail: () => string,
): Postmaster {
  const control = (...argumentList: string[]) => spawnControl(native, directory, ...argumentList);
  const starter = control('start', '-w', '-l', log, '-o', flags(settings).join(' '));
  const failure = watch(starter);
  return {
    running: () =>
      isRunning(starter) || (starter.exitCode === 0 && isAlive(readPidFile(directory)?.pid ?? NaN)),
    shutDown: (mode) => void watch(control('stop', '-W', '-m', mode)),
    logTail: () => failure() ?? logTail(),
  };
}

/** A server that another process started; that one may have ended since. */
export function adoptedPostmaster({ directory, native }: ServerLocation, pid: number): Postmaster {
  return {
    running: () => isStillRunning(pid, directory),
    shutDown: (mode) => {
      if (isWindows) watch(spawnControl(native, directory, 'stop', '-W', '-m', mode));
      else process.kill(pid, SIGNALS[mode]);
    },
    logTail: tailOf(`${directory}.log`, 0),
  };
}

function spawnControl(native: string, directory: string, ...argumentList: string[]): ChildProcess {
  return spawn(binary(native, 'pg_ctl'), [...argumentList, '-D', directory], {
    stdio: 'ignore',
    windowsHide: true,
  });
}

function flags(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Lets our process end without the child, and keeps the reason why it could not be spawned. */
function watch(child: ChildProcess): () => string | undefined {
  let failure: string | undefined;
  child.once('error', (error) => (failure = error.message));
  child.unref();
  return () => failure;
}

/** A child that could not be spawned has a negative exit code. */
function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** At each start only: a server that logs no statements does not fill it in between. */
function rotate(log: string): void {
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES) renameSync(log, `${log}.1`);
}

/** Beside the cluster, where its unprivileged owner can't put a link to a file of root's. */
function openLog(log: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  const fd = openSync(log, O_APPEND | O_CREAT | O_WRONLY | (constants.O_NOFOLLOW ?? 0), 0o600);
  if (isRoot) {
    const { uid, gid } = statSync(dirname(log));
    fchownSync(fd, uid, gid);
  }
  return fd;
}

function tailOf(log: string, from: number): () => string {
  return () => {
    const written = readFileSync(log).subarray(from).toString('utf8').trim();
    return written.split('\n').slice(-TAIL_LINES).join('\n');
  };
}
