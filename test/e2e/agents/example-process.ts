import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const EXAMPLES = join(import.meta.dirname, '../../../examples/agents');

/** An example as a process of its own, and what it has written. */
export class Example {
  #written = '';
  readonly child;
  readonly ended: Promise<{ code: number | null; output: string }>;

  constructor(program: string, file: string, args: readonly string[], env: Record<string, string>) {
    this.child = spawn(program, [join(EXAMPLES, file), ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.add(this);
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#written += text));
    this.ended = once(this.child, 'close').then(([code]) => {
      started.delete(this);
      return { code: code as number | null, output: this.#written.trim() };
    });
  }

  get lines(): string[] {
    return this.#written.split('\n').slice(0, -1);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
const started = new Set<Example>();

/** Ends those that are still running. */
export async function endExamples(): Promise<void> {
  await Promise.all([...started].map((example) => example.kill()));
}
