/**
 * A small MCP server over stdio that tests put behind the proxy. What it does it writes to the file EFFECTS, a line each, before it
 * answers. It speaks the protocol by hand, so that it can also speak it badly.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const { EFFECTS = '', LISTING = 'first', STUBBORN } = process.env;

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });
const schema = (names: string[]) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});
const TOOLS = [
  {
    name: 'note',
    title: 'Write a note',
    description: `Writes a note, as listed ${LISTING}.`,
    inputSchema: { ...schema(['text']), required: ['text'], additionalProperties: false },
  },
  { name: 'look', inputSchema: schema(['what']), annotations: { readOnlyHint: true } },
  { name: 'resources/read', inputSchema: schema(['uri']) },
  ...[
    'say no',
    'die',
    'hang',
    'flood',
    'babble',
    'mumble',
    'elicit',
    'progress',
    'environment',
    'input',
    'meta',
  ].map((name) => ({ name, inputSchema: schema(['text']) })),
];

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

const asked = new Map<string, (result: unknown) => void>();

async function call(id: unknown, params: any): Promise<object | undefined> {
  const { name, arguments: given, _meta, requestState, inputResponses } = params;
  const effect = (what: string) => appendFileSync(EFFECTS, `${name} ${what}\n`);
  switch (name) {
    case 'note':
      effect(given.text);
      return { ...text(`noted: ${given.text}`), structuredContent: { length: given.text.length } };
    case 'look':
      return text(`seen: ${given.what ?? ''}`);
    case 'environment':
      return text(JSON.stringify(process.env));
    case 'meta':
      return text(JSON.stringify(params));
    case 'say no':
      return { ...text('There is no paper.'), isError: true };
    case 'die':
      effect('begun');
      return process.exit(3);
    case 'hang':
      effect('begun');
      return undefined;
    case 'flood':
      effect('begun');
      process.stdout.write('x'.repeat(11 * 1024 * 1024));
      return undefined;
    case 'babble':
      effect('begun');
      for (let n = 0; n < 200; n++) process.stdout.write('Lorem ipsum dolor sit amet\n');
      return undefined;
    case 'mumble':
      effect('begun');
      send({ id, result: 'done' });
      return undefined;
    case 'progress':
      for (const progress of [1, 2])
        send({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress } });
      // The client library drops progress that it reads together with the result.
      await sleep(100);
      return text('there');
    case 'elicit': {
      const answered = new Promise((resolve) => asked.set('elicit-1', resolve));
      const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } };
      send({ id: 'elicit-1', method: 'elicitation/create', params: { message: 'Sure?', requestedSchema } });
      return text(JSON.stringify(await answered));
    }
    case 'input':
      if (requestState === undefined) {
        const inputRequests = { sure: { method: 'elicitation/create', params: { message: 'Sure?' } } };
        return { resultType: 'input_required', inputRequests, requestState: 'of the server' };
      }
      effect(`${given.text} ${requestState} ${JSON.stringify(inputResponses)}`);
      return { ...text('done'), resultType: 'complete' };
    default:
      throw new Error(`There is no tool ${name}.`);
  }
}

async function answer({ id, method, params }: any): Promise<object | undefined> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, tasks: { list: {} } },
        serverInfo: { name: 'box', version: '1.0.0' },
      };
    case 'server/discover':
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'box' } };
    case 'tools/list':
      return { tools: TOOLS };
    case 'prompts/list':
      return { prompts: [{ name: 'brief' }] };
    case 'resources/read':
      appendFileSync(EFFECTS, `read ${params.uri}\n`);
      return { contents: [{ uri: params.uri, text: 'the content' }] };
    case 'resources/subscribe':
      return {};
    case 'tools/call':
      return call(id, params);
    case 'ping':
      return {};
    default:
      appendFileSync(EFFECTS, `${method}\n`);
      return {};
  }
}

appendFileSync(EFFECTS, `pid ${process.pid}\n`);
process.stdout.write('A banner that is no message.\n');
if (STUBBORN) {
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1_000);
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) asked.get(message.id)?.(message.result);
  else if (message.id === undefined) {
    if (message.method === 'notifications/cancelled')
      appendFileSync(EFFECTS, `cancelled ${message.params.requestId}\n`);
  } else {
    answer(message).then(
      (result) => result && send({ id: message.id, result }),
      (error: Error) => send({ id: message.id, error: { code: -32602, message: error.message } }),
    );
  }
});
