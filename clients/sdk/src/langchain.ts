/** Puts the tools of a LangChain agent under policy: `import { guardToolCalls } from '@consigliere/sdk/langchain'`. */
import type { AskOptions } from './actions.js';
import type { Consigliere } from './client.js';

/** What is said of every call of a tool. */
export interface GuardToolCallsOptions extends Omit<AskOptions, 'externalId' | 'signal'> {
  /** Stands before each name: with `shop`, the tool `refund` is `shop.refund` at Consigliere. */
  prefix: string;
  /**
   * The agent's own name for a call, under which it is never done twice: its thread and the id that the model gave it, unless said.
   * Where a model gives the same id to several calls of a thread, name them yourself, or answer undefined.
   */
  externalId?: (call: {
    tool: string;
    threadId: string | undefined;
    toolCallId: string;
  }) => string | undefined;
}

/** As much of LangChain's request as is used here. */
interface ToolCallRequest {
  toolCall: { id?: string; name: string; args: Record<string, unknown> };
  tool: unknown;
  runtime: { signal?: AbortSignal; configurable?: { thread_id?: string } };
}

/**
 * For `wrapToolCall` of `createMiddleware({ name, wrapToolCall })`: asks before each call of any tool and does it once, with the
 * parameters that were decided. LangGraph may run a node again; by its thread and the id of the tool call, a call is found again
 * and not done twice. Put it last among the middleware, so that no other one calls the tool twice or changes what was decided.
 * Where a call is refused the model gets a message that says why.
 *
 * @param client with the token of an agent
 */
export function guardToolCalls(
  client: Consigliere,
  {
    prefix,
    externalId = ({ threadId, toolCallId }) => (threadId ? `${threadId}:${toolCallId}` : toolCallId),
    ...asked
  }: GuardToolCallsOptions,
) {
  return async <T extends ToolCallRequest, R>(
    request: T,
    handler: (request: T) => R | Promise<R>,
  ): Promise<R> => {
    const { toolCall, runtime } = request;
    const { id, name, args } = toolCall;
    const threadId = runtime.configurable?.thread_id;
    const tool = `${prefix}.${name}`;
    const ran = await client.actions.run(
      tool,
      args,
      (params) => handler({ ...request, toolCall: { ...toolCall, args: params } }),
      {
        ...asked,
        externalId: id && externalId({ tool, threadId, toolCallId: id }),
        signal: runtime.signal,
      },
    );
    if (ran.isDone) return ran.result;
    // LangChain makes the message of what a tool answers, so a tool answers in the place of the real one.
    const { text } = ran;
    return handler({ ...request, tool: { name, invoke: () => Promise.resolve(text) } });
  };
}
