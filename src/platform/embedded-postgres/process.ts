import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What postmaster.pid says: line 1 the pid, line 4 the port, line 8 the status. */
interface PidFile {
  pid: number;
  port: number;
  ready: boolean;
}

/** Undefined without a file. The numbers are NaN while, or because, they were not written. */
export function readPidFile(directory: string): PidFile | undefined {
  const text = readIfThere(pidFilePath(directory));
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  return {
    // A single-user backend writes its pid negative.
    pid: Math.abs(parseInt(lines[0] ?? '', 10)),
    port: parseInt(lines[3] ?? '', 10),
    ready: lines[7]?.trim() === 'ready',
  };
}

/**
 * The pid of the live server over `directory`. A pid file that says otherwise is stale: PostgreSQL deals
 * with a dead pid itself (and waits for orphaned backends to be gone), but takes any live one for a server,
 * as well as a file left empty by a power cut, so those we remove. Call under the start lock.
 */
export async function findServer(directory: string): Promise<number | undefined> {
  const file = readPidFile(directory);
  if (!file) return undefined;
  if (await isServerOver(file.pid, directory)) return file.pid;
  if (Number.isNaN(file.pid) || isAlive(file.pid)) rmSync(pidFilePath(directory), { force: true });
  return undefined;
}

/** Whether a server that was found over `directory` has not ended since; cheap enough to be asked each second. */
export function isStillRunning(pid: number, directory: string): boolean {
  if (!isAlive(pid) || readPidFile(directory)?.pid !== pid) return false;
  // A zombie, which nobody waits for when its starter was killed in a container, has an empty command line.
  return process.platform !== 'linux' || !!readIfThere(`/proc/${pid}/cmdline`);
}

/** True for a zombie too. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function pidFilePath(directory: string): string {
  return join(directory, 'postmaster.pid');
}

/** By its command line, which every user may read everywhere; a zombie has none. */
async function isServerOver(pid: number, directory: string): Promise<boolean> {
  if (Number.isNaN(pid) || !isAlive(pid)) return false;
  const plain = (text: string) => text.replaceAll('"', '').replaceAll('\\', '/');
  const line = plain(await commandLine(pid));
  return /(^|\/)postgres(\.exe)? -/.test(line) && `${line} `.includes(` -D ${plain(directory)} `);
}

async function commandLine(pid: number): Promise<string> {
  const run = promisify(execFile);
  try {
    switch (process.platform) {
      case 'linux':
        return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
      case 'win32': {
        const query = `(Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}').CommandLine`;
        return (
          await run('powershell', ['-NoProfile', '-Command', query], { windowsHide: true })
        ).stdout.trim();
      }
      default:
        return (await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout.trim();
    }
  } catch {
    return ''; // it ended meanwhile
  }
}
