import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the model received it. */
export interface ModelRequest {
  headers: IncomingMessage['headers'];
  body: {
    messages: { role: string; content: string }[];
    response_format?: { type: string; json_schema?: { name: string; schema: unknown } };
    max_tokens?: number;
  };
}

/** What it answers: a completion, any HTTP answer, half an answer, or nothing at all. */
export type ModelReply =
  | { content: string; finishReason?: string; usage?: object | null }
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'half'
  | 'nothing';

/** A model behind the OpenAI interface on the loopback address, which answers whatever the test says. */
export class LoopbackModel {
  readonly requests: ModelRequest[] = [];
  /** Who asked for the list of models, which costs nothing. */
  readonly looks: { path: string; headers: IncomingMessage['headers'] }[] = [];
  /** The status with which the list of models is answered. */
  listStatus = 200;
  /** The reply to each request. */
  reply: (request: ModelRequest, nth: number) => ModelReply | Promise<ModelReply> = () => 'nothing';

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<LoopbackModel> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const model = new LoopbackModel(server, `http://127.0.0.1:${port}/v1`);
    server.on('request', (request, response) => {
      void (async () => {
        if (request.method === 'GET') {
          model.looks.push({ path: request.url!, headers: request.headers });
          response.writeHead(model.listStatus, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ object: 'list', data: [] }));
          return;
        }
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const received = { headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
        model.requests.push(received);
        const reply = await model.reply(received, model.requests.length);
        if (reply === 'nothing') return;
        if (reply === 'half') {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
          response.write('{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assist');
          setImmediate(() => response.destroy());
          return;
        }
        if ('status' in reply) {
          response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
          response.end(reply.body ?? '');
          return;
        }
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(completion(reply)));
      })();
    });
    return model;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}

/** An error in the words of the OpenAI interface. */
export function providerError(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): ModelReply {
  return { status, headers, body: JSON.stringify({ error: { message, type: 'error' } }) };
}

function completion({ content, finishReason = 'stop', usage }: Extract<ModelReply, { content: string }>) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 0,
    model: 'test-model',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }],
    ...(usage !== null && {
      usage: usage ?? { prompt_tokens: 900, completion_tokens: 120, total_tokens: 1020 },
    }),
  };
}
