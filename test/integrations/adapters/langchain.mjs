import { MemorySaver } from '@langchain/langgraph-checkpoint';
import { createAgent, createMiddleware, FakeToolCallingModel, tool } from 'langchain';

import { guardToolCalls } from '@consigliere/sdk/langchain';

/** A model that calls the tool once, and then tells what it was told. */
export async function callRefund(client, { id, params }, refund, options = {}) {
  const model = new FakeToolCallingModel({ toolCalls: [[{ name: 'refund', args: params, id }], []] });
  const schema = { type: 'object', properties: { order: { type: 'string' }, amount: { type: 'number' } } };
  const agent = createAgent({
    model,
    tools: [
      tool(async (input) => JSON.stringify(await refund(input)), {
        name: 'refund',
        description: 'Refunds an order.',
        schema: schema,
      }),
    ],
    checkpointer: new MemorySaver(),
    middleware: [
      createMiddleware({
        name: 'consigliere',
        wrapToolCall: guardToolCalls(client, { prefix: 'shop', reason: 'It came back.', ...options }),
      }),
    ],
  });
  const config = { configurable: { thread_id: 'thread-1' } };
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Refund it.' }] }, config);
  return JSON.stringify(messages.find((message) => message.getType() === 'tool'));
}
