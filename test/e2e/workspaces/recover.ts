import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');

/** `npm run recover`, in a process of its own. */
export async function recover(environment: Record<string, string>, ...argumentList: string[]) {
  const script = join(ROOT, 'dist/scripts/recover.js');
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...argumentList], {
      env: { PATH: process.env.PATH, ...environment },
    });
    return { code: 0, stdout, token: /cons_\w+/.exec(stdout)?.[0] };
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, stderr };
  }
}
