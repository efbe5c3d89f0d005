import { guardTools } from '@consigliere/sdk/ai';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that calls the tool once, and then tells what it was told. */
export async function callRefund(client, { id, params }, refund, more = {}) {
  const model = new MockLanguageModelV4({
    doGenerate: [
      {
        content: [{ type: 'tool-call', toolCallId: id, toolName: 'refund', input: JSON.stringify(params) }],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      },
      {
        content: [{ type: 'text', text: 'Done.' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
  const tools = guardTools(
    client,
    {
      refund: tool({
        inputSchema: jsonSchema({
          type: 'object',
          properties: { order: { type: 'string' }, amount: { type: 'number' } },
        }),
        execute: (input, options) => refund(input, options.permitted.permit),
      }),
    },
    { prefix: 'shop', reason: 'It came back.', ...more },
  );
  await generateText({ model, tools, prompt: 'Refund it.', stopWhen: isStepCount(3) });
  return JSON.stringify(model.doGenerateCalls[1].prompt.at(-1));
}
