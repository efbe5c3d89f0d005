/** Puts tools of the OpenAI Agents SDK under policy: `import { guardExecute } from '@consigliere/sdk/openai-agents'`. */
import type { AskOptions, Permitted } from './actions.js';
import type { Consigliere } from './client.js';
import { ConsigliereError } from './errors.js';

/** What is said of every call of the tool. */
export interface GuardExecuteOptions extends Omit<AskOptions, 'externalId' | 'signal'> {
  /** The agent's own name for a call, under which it is never done twice: the id of the call, unless said. */
  externalId?: (callId: string) => string | undefined;
}

interface Details {
  toolCall?: { callId?: string };
  signal?: AbortSignal;
}

/**
 * For `execute` of `tool({ ... })`: asks before each call and does it once, with the parameters that were decided, which the SDK's
 * own approval cannot change. Where it is refused, or what came of it is not known, the model gets a text that says so.
 *
 * @param client with the token of an agent
 * @param tool its name at Consigliere, such as `shop.refund`
 * @param act gets the parameters, the context of the run, and the permit
 */
export function guardExecute<R>(
  client: Consigliere,
  tool: string,
  act: (params: Record<string, unknown>, context: unknown, permitted: Permitted) => R | Promise<R>,
  { externalId = (callId) => callId, ...asked }: GuardExecuteOptions = {},
): (params: unknown, context?: unknown, details?: Details) => Promise<R | string> {
  return async (params, context, { toolCall, signal } = {}) => {
    try {
      const ran = await client.actions.run(
        tool,
        params as Record<string, unknown>,
        (decided, permitted) => act(decided, context, permitted),
        { ...asked, externalId: toolCall?.callId && externalId(toolCall.callId), signal },
      );
      return ran.isDone ? ran.result : ran.text;
    } catch (error) {
      // Of an error the SDK tells the model to try again, which it must not where the outcome is unknown.
      if (error instanceof ConsigliereError) return error.message;
      throw error;
    }
  };
}
