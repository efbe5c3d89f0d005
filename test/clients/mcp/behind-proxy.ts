import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer, text as textOf } from 'node:stream/consumers';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { eventually } from '../../support/test-app.js';

const PROXY = join(import.meta.dirname, 'proxy-process.ts');

/** An MCP client, as an assistant has one, in front of the proxy, and the box behind it. */
export class BehindProxy {
  #stderr = '';
  private constructor(
    readonly client: Client,
    readonly transport: StdioClientTransport,
    readonly folder: string,
  ) {
    transport.stderr?.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
  }

  static async start(
    env: Record<string, string>,
    { args = [], ...options }: ClientOptions & { args?: string[] } = {},
  ): Promise<BehindProxy> {
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-proxy-'));
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [PROXY, ...args],
      env: { PATH: process.env.PATH!, EFFECTS: join(folder, 'effects'), ...env },
      stderr: 'pipe',
    });
    const client = new Client({ name: 'assistant', version: '1.0.0' }, options);
    const made = new BehindProxy(client, transport, folder);
    started.add(made);
    await client.connect(transport);
    return made;
  }

  /** What the proxy has told a person. */
  get said(): string {
    return this.#stderr;
  }

  /** What the server has done, without its process id. */
  async effects(): Promise<string[]> {
    return (await this.#lines()).filter((line) => !line.startsWith('pid '));
  }

  async serverPid(): Promise<number> {
    const lines = await eventually(
      () => this.#lines(),
      (found) => found.length > 0,
    );
    return Number(lines.find((line) => line.startsWith('pid '))!.slice(4));
  }

  async #lines(): Promise<string[]> {
    const text = await readFile(join(this.folder, 'effects'), 'utf8').catch(() => '');
    return text.split('\n').filter(Boolean);
  }

  /** Calls a tool and answers its text; `isError` first where it is one. */
  async call(name: string, given: Record<string, unknown> = {}): Promise<string> {
    const { content, isError } = await this.client.callTool({ name, arguments: given });
    const texts = (content as { text?: string }[]).map(({ text }) => text);
    return [...(isError ? ['isError'] : []), ...texts].join(' | ');
  }

  async close(): Promise<void> {
    started.delete(this);
    await this.client.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
/** Stands between a client and the service, and may act once the service has answered and before the client hears of it. */
export class Between {
  readonly #server: Server;
  answered: (path: string) => void = () => undefined;

  private constructor(serviceUrl: string) {
    const passOn = async (request: IncomingMessage, response: ServerResponse) => {
      const body = await buffer(request);
      const answer = await fetch(serviceUrl + request.url, {
        method: request.method!,
        headers: {
          'x-service-token': request.headers['x-service-token'] as string,
          'Content-Type': 'application/json',
        },
        ...(body.length > 0 && { body }),
      });
      const text = await answer.text();
      this.answered(request.url!);
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text);
    };
    this.#server = createServer((request, response) => {
      passOn(request, response).catch(() => response.destroy());
    });
  }

  static async start(serviceUrl: string): Promise<Between> {
    const between = new Between(serviceUrl);
    between.#server.listen(0, '127.0.0.1');
    await once(between.#server, 'listening');
    return between;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Writes lines to the proxy by hand. */
export class Wire {
  readonly #folder = mkdtempSync(join(tmpdir(), 'consigliere-proxy-'));
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #ids = 0;

  constructor(env: Record<string, string>, ...args: string[]) {
    this.#child = spawn(process.execPath, [PROXY, ...args], {
      env: { PATH: process.env.PATH, EFFECTS: join(this.#folder, 'effects'), ...env },
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Answers the next line, which is the answer where nothing else is under way. */
  async raw(line: string): Promise<any> {
    this.#child.stdin.write(`${line}\n`);
    return JSON.parse((await this.#lines.next()).value);
  }

  async ask(method: string, params: object): Promise<any> {
    const id = ++this.#ids;
    const answer = await this.raw(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    if (answer.id !== id) throw new Error(`an answer to another request: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** What the proxy has told a person, once it has ended by itself. */
  ended(): Promise<string> {
    return textOf(this.#child.stderr);
  }

  async effects(): Promise<string[]> {
    const lines = (await readFile(join(this.#folder, 'effects'), 'utf8')).split('\n');
    return lines.filter((line) => line !== '' && !line.startsWith('pid '));
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const started = new Set<BehindProxy>();

/** Ends those that are still running. */
export async function endProxies(): Promise<void> {
  await Promise.all([...started].map((proxy) => proxy.close()));
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
