/** Puts the tools of the Vercel AI SDK under policy: `import { guardTools } from '@consigliere/sdk/ai'`. */
import type { AskOptions } from './actions.js';
import type { Consigliere } from './client.js';

/** What is said of every call of these tools. */
export interface GuardToolsOptions extends Omit<AskOptions, 'externalId' | 'signal'> {
  /** Stands before each name: with `shop`, the tool `refund` is `shop.refund` at Consigliere. */
  prefix: string;
  /**
   * The agent's own name for a call, under which it is never done twice: the id that the model gave the call, unless said. Where
   * a model gives the same id to several calls, name them yourself, or answer undefined.
   */
  externalId?: (call: { tool: string; toolCallId: string }) => string | undefined;
}

type Execute = (
  input: Record<string, unknown>,
  options: { toolCallId: string; abortSignal?: AbortSignal },
) => unknown;

/**
 * The same tools, each of which asks before it is executed, once, with the parameters that were decided; `options.permitted` of its
 * `execute` holds the permit. Where it is refused the model gets a text that says why; an error is told to it as one.
 *
 * @param client with the token of an agent
 * @throws TypeError for a tool without `execute`, which is run elsewhere and cannot be guarded here
 */
export function guardTools<T extends Record<string, object>>(
  client: Consigliere,
  tools: T,
  { prefix, externalId = ({ toolCallId }) => toolCallId, ...asked }: GuardToolsOptions,
): T {
  const guarded = Object.entries(tools).map(([name, tool]) => {
    const { execute: act } = tool as { execute?: Execute };
    if (!act) throw new TypeError(`The tool ${name} has no execute, so it cannot be guarded.`);
    const called = `${prefix}.${name}`;
    const execute: Execute = async (input, options) => {
      const ran = await client.actions.run(
        called,
        input,
        async (params, permitted) =>
          lastOf(await act.call(tool, params, Object.assign({}, options, { permitted }))),
        {
          ...asked,
          externalId: externalId({ tool: called, toolCallId: options.toolCallId }),
          signal: options.abortSignal,
        },
      );
      return ran.isDone ? ran.result : ran.text;
    };
    return [name, { ...tool, execute }];
  });
  return Object.fromEntries(guarded) as T;
}

/** A tool may answer preliminary results; the last one counts. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const one of result as AsyncIterable<unknown>) last = one;
  return last;
}
