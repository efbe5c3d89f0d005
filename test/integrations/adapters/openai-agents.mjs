import { Agent, Runner, tool, Usage } from '@openai/agents';

import { guardExecute } from '@consigliere/sdk/openai-agents';

/** A model that calls the tool once, and then tells what it was told. */
export async function callRefund(client, { id, params }, refund, options = {}) {
  let told = '';
  const output = [
    [
      {
        type: 'function_call',
        id: 'fc_1',
        callId: id,
        name: 'refund',
        status: 'completed',
        arguments: JSON.stringify(params),
      },
    ],
    [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Done.' }],
      },
    ],
  ];
  const model = {
    getResponse: async ({ input }) => {
      told = JSON.stringify(Array.isArray(input) ? input.at(-1) : input);
      return { usage: new Usage(), output: output.shift() };
    },
    getStreamedResponse: () => {
      throw new Error('unused');
    },
  };
  const execute = guardExecute(
    client,
    'shop.refund',
    (decided, _context, { permit }) => refund(decided, permit),
    { reason: 'It came back.', ...options },
  );
  const parameters = {
    type: 'object',
    properties: { order: { type: 'string' }, amount: { type: 'number' } },
    required: ['order', 'amount'],
    additionalProperties: false,
  };
  const agent = new Agent({
    name: 'Shop',
    model: model,
    tools: [
      tool({
        name: 'refund',
        description: 'Refunds an order.',
        parameters: parameters,
        execute: execute,
      }),
    ],
  });
  await new Runner({ tracingDisabled: true }).run(agent, 'Refund it.');
  return told;
}
