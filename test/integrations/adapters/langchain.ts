import { MemorySaver } from '@langchain/langgraph-checkpoint';
import { createAgent, createMiddleware, FakeToolCallingModel, tool } from 'langchain';
import type { Consigliere } from '@consigliere/sdk';
import { guardToolCalls } from '@consigliere/sdk/langchain';
import type { Call, Refund } from './adapter.ts';

/** A model that calls the tool once, and then tells what it was told. */
export async function callRefund(client: Consigliere, { id, params }: Call, refund: Refund): Promise<string> {
  const model = new FakeToolCallingModel({ toolCalls: [[{ name: 'refund', args: params, id }], []] });
  const schema = { type: 'object', properties: { order: { type: 'string' }, amount: { type: 'number' } } };
  const agent = createAgent({
    model,
    tools: [
      tool(async (input: Call['params']) => JSON.stringify(await refund(input)), {
        name: 'refund',
        description: 'Refunds an order.',
        schema: schema as never,
      }),
    ],
    checkpointer: new MemorySaver() as never,
    middleware: [
      createMiddleware({
        name: 'consigliere',
        wrapToolCall: guardToolCalls(client, { prefix: 'shop', reason: 'It came back.' }) as never,
      }),
    ],
  });
  const config = { configurable: { thread_id: 'thread-1' } };
  const { messages } = await agent.invoke(
    { messages: [{ role: 'user', content: 'Refund it.' }] },
    config as never,
  );
  return JSON.stringify(messages.find((message: { getType(): string }) => message.getType() === 'tool'));
}
