import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  isInitializeRequest,
  isLegacyRequest,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { Body, Controller, Delete, Get, Module, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { assertOwnAddress } from '../../src/platform/auth/same-origin.js';
import { PublicAddress } from '../../src/platform/http/public-address.js';
import { Route } from '../../src/platform/http/route.js';

/** What the conformance suite expects to find on a server, by names of its own. */

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const states = createRequestStateCodec<Record<string, unknown>>({ key: randomUUID() });

type Result = CallToolResult | InputRequiredResult;
const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

const fieldOf = (name: string, type: 'string' | 'boolean') => ({
  type: 'object' as const,
  properties: { [name]: { type: type as 'string' } },
  required: [name],
});
const askFor = (message: string, name: string, type: 'string' | 'boolean' = 'string') =>
  inputRequired.elicit({ message, requestedSchema: fieldOf(name, type) });
const sample = (text: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text } }],
    maxTokens: 50,
  });

/** Asks the client itself, as revisions before 2026-07-28 do. */
async function asked(
  context: ServerContext,
  requestedSchema: object,
  message: string,
): Promise<CallToolResult> {
  const params = { message, requestedSchema };
  const { action, content } = (await context.mcpReq.send({ method: 'elicitation/create', params })) as {
    action: string;
    content?: unknown;
  };
  return said(`action=${action}, content=${JSON.stringify(content ?? {})}`);
}

/** What a client answered to a request inside a result. */
const answered = ({ mcpReq }: ServerContext, key: string) =>
  mcpReq.inputResponses?.[key] as { content?: { text?: string }; roots?: { uri: string }[] } | undefined;

function fixtureServer(changed: { tools(): void; prompts(): void }): McpServer {
  const mcp = new McpServer(
    { name: 'fixtures', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: (state, context) => states.verify(state, context) },
    },
  );
  const tool = (name: string, run: (context: ServerContext) => Result | Promise<Result>) =>
    mcp.registerTool(name, { description: name, inputSchema: z.object({}) }, (_, context) => run(context));

  tool('test_simple_text', () => said('This is a simple text response for testing.'));
  tool('test_image_content', () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }));
  tool('test_audio_content', () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }));
  const embedded = { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'An embedded resource.' };
  tool('test_embedded_resource', () => ({ content: [{ type: 'resource', resource: embedded }] }));
  tool('test_multiple_content_types', () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'resource', resource: embedded },
    ],
  }));
  tool('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('test_tool_with_logging', async ({ mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
      await wait(50);
    }
    return said('logged');
  });
  tool('test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'only where the request asks for it');
    return said('logged');
  });
  tool('test_streaming_elicitation', () => said('only a result'));
  tool('test_tool_with_progress', async ({ mcpReq }) => {
    const { _meta: { progressToken } = {} } = mcpReq;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100 },
      });
      await wait(50);
    }
    return said(String(progressToken ?? 'no-progress-token'));
  });
  tool('test_reconnection', () => said('Reconnection test completed successfully.'));

  mcp.registerTool(
    'test_sampling',
    { description: 'asks the model of the client', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
      const { content } = (await mcpReq.send({
        method: 'sampling/createMessage',
        params: { messages, maxTokens: 100 },
      })) as { content?: { text?: string } };
      return said(`LLM response: ${content?.text}`);
    },
  );
  mcp.registerTool(
    'test_elicitation',
    { description: 'asks the person', inputSchema: z.object({ message: z.string() }) },
    ({ message }, context) => asked(context, fieldOf('response', 'string'), message),
  );
  tool('test_elicitation_sep1034_defaults', (context) => {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    };
    return asked(context, { type: 'object', properties, required: [] }, 'Defaults');
  });
  tool('test_elicitation_sep1330_enums', (context) => {
    const plain = ['option1', 'option2', 'option3'];
    const titled = ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title }));
    const properties = {
      untitledSingle: { type: 'string', enum: plain },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['One', 'Two'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    };
    return asked(context, { type: 'object', properties, required: [] }, 'Choices');
  });
  mcp.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'JSON Schema 2020-12',
      inputSchema: fromJsonSchema({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: {
            $anchor: 'addressDef',
            type: 'object',
            properties: { street: { type: 'string' }, city: { type: 'string' } },
          },
        },
        properties: {
          name: { type: 'string' },
          address: { $ref: '#/$defs/address' },
          contactMethod: { type: 'string', enum: ['phone', 'email'] },
          phone: { type: 'string' },
          email: { type: 'string' },
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: { required: ['phone'] },
        else: { required: ['email'] },
        additionalProperties: false,
      }),
    },
    (given) => said(JSON.stringify(given)),
  );
  mcp.registerTool(
    'test_x_mcp_header',
    {
      description: 'a parameter that is a header too',
      inputSchema: fromJsonSchema<{ region?: string }>({
        type: 'object',
        properties: {
          region: { type: 'string', 'x-mcp-header': 'Region' } as object,
          level: { type: 'integer' },
        },
      }),
    },
    ({ region }) => said(`region=${region}`),
  );

  tool('test_missing_capability', (context) =>
    answered(context, 'llm_answer')
      ? said('done')
      : inputRequired({ inputRequests: { llm_answer: sample('pong') } }),
  );
  tool('test_input_required_result_elicitation', ({ mcpReq }) => {
    const { name } = acceptedContent(mcpReq.inputResponses, 'user_name') ?? {};
    if (typeof name === 'string') return said(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: askFor('What is your name?', 'name') } });
  });
  tool('test_input_required_result_sampling', (context) => {
    const answer = answered(context, 'capital_question');
    if (answer) return said(`Sampling response: ${answer.content?.text}`);
    return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?') } });
  });
  tool('test_input_required_result_list_roots', (context) => {
    const { roots } = answered(context, 'client_roots') ?? {};
    if (roots) return said(`Roots: ${roots.map(({ uri }) => uri).join(', ')}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const name of ['request_state', 'tampered_state']) {
    tool(`test_input_required_result_${name}`, async ({ mcpReq }) => {
      const isConfirmed = acceptedContent(mcpReq.inputResponses, 'confirm') !== undefined;
      if (isConfirmed && mcpReq.requestState() !== undefined) return said('state-ok: requestState verified');
      return inputRequired({
        inputRequests: { confirm: askFor('Please confirm', 'ok', 'boolean') },
        requestState: await states.mint({ name, nonce: randomUUID() }),
      });
    });
  }
  tool('test_input_required_result_multiple_inputs', async (context) => {
    const { name } = acceptedContent<{ name?: string }>(context.mcpReq.inputResponses, 'user_name') ?? {};
    const greeting = answered(context, 'greeting')?.content?.text;
    const roots = answered(context, 'client_roots')?.roots;
    if (name && greeting && roots) return said(`${greeting} ${name}, ${roots.length} roots`);
    return inputRequired({
      inputRequests: {
        user_name: askFor('What is your name?', 'name'),
        greeting: sample('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ nonce: randomUUID() }),
    });
  });
  tool('test_input_required_result_multi_round', async ({ mcpReq }) => {
    const { round = 0, name } = mcpReq.requestState<{ round?: number; name?: unknown }>() ?? {};
    if (round === 0)
      return inputRequired({
        inputRequests: { step1: askFor('Step 1: What is your name?', 'name') },
        requestState: await states.mint({ round: 1, nonce: randomUUID() }),
      });
    if (round === 1) {
      const first = acceptedContent(mcpReq.inputResponses, 'step1')?.['name'];
      return inputRequired({
        inputRequests: { step2: askFor('Step 2: What is your favorite color?', 'color') },
        requestState: await states.mint({ round: 2, name: first, nonce: randomUUID() }),
      });
    }
    const { color } = acceptedContent(mcpReq.inputResponses, 'step2') ?? {};
    return said(`${String(name)} likes ${String(color)}`);
  });
  tool('test_input_required_result_capabilities', ({ mcpReq }) => {
    if (mcpReq.inputResponses !== undefined) return said('done');
    const envelope = mcpReq.envelope as
      { [CLIENT_CAPABILITIES_META_KEY]?: Record<string, unknown> } | undefined;
    const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests: InputRequests = {
      ...(declared['elicitation'] !== undefined && { user_name: askFor('What is your name?', 'name') }),
      ...(declared['sampling'] !== undefined && { greeting: sample('Generate a greeting') }),
      ...(declared['roots'] !== undefined && { client_roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length === 0 ? said('none') : inputRequired({ inputRequests });
  });
  tool('test_trigger_tool_change', () => {
    changed.tools();
    return said('published');
  });
  tool('test_trigger_prompt_change', () => {
    changed.prompts();
    return said('published');
  });

  const text = (uri: string, content: string, mimeType = 'text/plain') => ({
    contents: [{ uri, mimeType, text: content }],
  });
  for (const name of ['static-text', 'watched-resource']) {
    mcp.registerResource(name, `test://${name}`, { mimeType: 'text/plain' }, ({ href }) => text(href, name));
  }
  mcp.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  mcp.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    ({ href }, { id }) =>
      text(href, JSON.stringify({ id, data: `Data for ID: ${String(id)}` }), 'application/json'),
  );
  const { server } = mcp;
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('logging/setLevel', () => ({}));
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));

  const user = (content: object) => ({ messages: [{ role: 'user' as const, content: content as never }] });
  mcp.registerPrompt('test_simple_prompt', { description: 'simple' }, () =>
    user({ type: 'text', text: 'A simple prompt.' }),
  );
  mcp.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'with arguments',
      argsSchema: z.object({ arg1: z.string().describe('first'), arg2: z.string().describe('second') }),
    },
    ({ arg1, arg2 }) => user({ type: 'text', text: `arg1='${arg1}', arg2='${arg2}'` }),
  );
  mcp.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'with a resource', argsSchema: z.object({ resourceUri: z.string().describe('which') }) },
    ({ resourceUri }) => {
      const resource = { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded.' };
      const { messages } = user({ type: 'resource', resource });
      return { messages: [...messages, ...user({ type: 'text', text: 'Process it.' }).messages] };
    },
  );
  mcp.registerPrompt('test_prompt_with_image', { description: 'with an image' }, () =>
    user({ type: 'image', data: PNG, mimeType: 'image/png' }),
  );
  mcp.registerPrompt('test_input_required_result_prompt', { description: 'asks first' }, ((
    context: ServerContext,
  ) => {
    const given = acceptedContent(context.mcpReq.inputResponses, 'user_context')?.['context'];
    if (typeof given === 'string') return user({ type: 'text', text: `Use: ${given}` });
    return inputRequired({ inputRequests: { user_context: askFor('What context?', 'context') } });
  }) as never);
  return mcp;
}

/**
 * The fixtures behind the service's own admission. Asking the client before 2026-07-28 needs sessions,
 * which the product does without: here they are kept in memory.
 */
const POLICY = {
  auth: 'public',
  carries: true,
  transaction: false,
  returns: { 200: { 'application/json': '{}' } },
} as const;

@ApiExcludeController()
@Controller('fixtures')
class FixturesController {
  readonly #sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  readonly #modern = createMcpHandler(() => this.#server());

  constructor(private readonly publicAddress: PublicAddress) {}

  @Post()
  @Route(POLICY)
  async post(@Req() request: Request, @Res() response: Response, @Body() body: object): Promise<void> {
    if (await isLegacyRequest(await toWebRequest(request, body), body))
      return this.#session(request, response, body);
    assertOwnAddress(request, this.publicAddress.url);
    await toNodeHandler(this.#modern)(request, response, body);
  }

  @Get()
  @Route(POLICY)
  get(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.#session(request, response);
  }

  @Delete()
  @Route(POLICY)
  end(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.#session(request, response);
  }

  #server(): McpServer {
    const { notify } = this.#modern;
    return fixtureServer({ tools: () => notify.toolsChanged(), prompts: () => notify.promptsChanged() });
  }

  async #session(request: Request, response: Response, body?: object): Promise<void> {
    assertOwnAddress(request, this.publicAddress.url);
    const known = this.#sessions.get(String(request.headers['mcp-session-id']));
    if (!known && !isInitializeRequest(body)) {
      response.status(request.headers['mcp-session-id'] ? 404 : 400).json({ error: 'no such session' });
      return;
    }
    const transport = known ?? (await this.#begin());
    await transport.handleRequest(request, response, body);
  }

  async #begin(): Promise<NodeStreamableHTTPServerTransport> {
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    await this.#server().connect(transport);
    return transport;
  }
}

@Module({ controllers: [FixturesController] })
export class FixturesModule {}
