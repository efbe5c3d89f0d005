import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);

const STARTS_WITHIN_MS = 30_000;
const LISTENING = /Prism is listening on (http:\/\/\S+)/;

/**
 * Prism between a client and the service: a request or an answer that the OpenAPI document forbids comes back as a
 * problem of Prism's own (`--errors`), with what is wrong in `validation`.
 */
export class ValidatingProxy {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** Starts Prism on a free port of loopback; `document` is a file, `upstream` the service's URL. */
  static async start(document: string, upstream: string): Promise<ValidatingProxy> {
    const prism = require.resolve('@stoplight/prism-cli/dist/index.js');
    const child = spawn(
      process.execPath,
      [prism, 'proxy', document, upstream, '--errors', '--host', '127.0.0.1', '--port', '0'],
      { env: { PATH: process.env.PATH, NO_COLOR: '1', FORCE_COLOR: '0' }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const late = setTimeout(kill, STARTS_WITHIN_MS);
    for await (const line of createInterface({ input: child.stdout! })) {
      said += `${line}\n`;
      const url = LISTENING.exec(line)?.[1];
      if (url === undefined) continue;
      clearTimeout(late);
      // What nobody reads would fill the pipe and stop the process.
      child.stdout!.resume();
      return new ValidatingProxy(child, url);
    }
    clearTimeout(late);
    throw new Error(`Prism did not start:\n${said}`);
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    process.kill(this.child.pid!, 'SIGKILL');
    await exit;
  }
}
