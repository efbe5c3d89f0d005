import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { guardHooks } from '@consigliere/sdk/claude-agent';
import { z } from 'zod';

const TOOL = 'mcp__shop__refund';

/** A model that calls the tool once, and then tells what it was told. */
export async function callRefund(client, { id, params }, refund) {
  let told = '';
  const answer = async (request, response) => {
    const body = await json(request).catch(() => ({}));
    const last = JSON.stringify(body.messages?.at(-1)?.content ?? '');
    const wasCalled = last.includes('tool_result');
    if (wasCalled) told = last;
    const hasTool = body.tools?.some(({ name }) => name === TOOL);
    const call = { type: 'tool_use', id, name: TOOL, input: params };
    const content = hasTool && !wasCalled ? call : { type: 'text', text: 'Done.' };
    if (!request.url.startsWith('/v1/messages') || request.url.includes('count_tokens')) response.end('{}');
    else if (body.stream) stream(response, content);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(message(content)));
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const home = await mkdtemp(join(tmpdir(), 'consigliere-claude-'));
  const schema = { order: z.string(), amount: z.number() };
  const act = async (input) => ({ content: [{ type: 'text', text: JSON.stringify(await refund(input)) }] });
  try {
    const messages = query({
      prompt: 'Refund it.',
      options: {
        cwd: home,
        env: {
          ...{ PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home, ANTHROPIC_API_KEY: 'none' },
          ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
          ...{
            ENABLE_TOOL_SEARCH: 'false',
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
            DISABLE_TELEMETRY: '1',
            DISABLE_AUTOUPDATER: '1',
          },
        },
        settingSources: [],
        // A rule that allows it: the hook alone stands before the tool.
        allowedTools: [TOOL],
        mcpServers: {
          shop: createSdkMcpServer({
            name: 'shop',
            tools: [tool('refund', 'Refunds an order.', schema, act)],
          }),
        },
        hooks: guardHooks(client, {
          nameOf: (name) => name.replace('mcp__shop__', 'shop.'),
          reason: 'It came back.',
        }),
        stderr: (text) => process.env.CLAUDE_STDERR && console.error(text),
      },
    });
    for await (const one of messages)
      if (process.env.CLAUDE_STDERR) console.error(JSON.stringify(one).slice(0, 300));
    return told;
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(home, { recursive: true, force: true });
  }
}

function message(content) {
  return {
    ...{
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: content ? [content] : [],
    },
    stop_reason: content?.type === 'tool_use' ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function stream(response, content) {
  response.setHeader('content-type', 'text/event-stream');
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const isCall = content.type === 'tool_use';
  send({ type: 'message_start', message: { ...message(), stop_reason: null } });
  send({
    type: 'content_block_start',
    index: 0,
    content_block: isCall ? { ...content, input: {} } : { type: 'text', text: '' },
  });
  send({
    type: 'content_block_delta',
    index: 0,
    delta: isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(content.input) }
      : { type: 'text_delta', text: content.text },
  });
  send({ type: 'content_block_stop', index: 0 });
  const { stop_reason, stop_sequence } = message(content);
  send({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: 1 } });
  send({ type: 'message_stop' });
  response.end();
}
