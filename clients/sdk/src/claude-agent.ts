/** Puts the tools of the Claude Agent SDK under policy: `import { guardHooks } from '@consigliere/sdk/claude-agent'`. */
import type { AskOptions } from './actions.js';
import type { Consigliere } from './client.js';

/** What is said of every call of a tool. */
export interface GuardHooksOptions extends Omit<AskOptions, 'externalId' | 'signal'> {
  /** The name of a tool at Consigliere: `claude.Write` for `Write`, unless said. */
  nameOf?: (tool: string) => string;
  /** Which tools, as the SDK matches them, such as `Write|Edit|Bash`; without it all. */
  matcher?: string;
}

/** As much of the SDK's input as is used here. */
interface HookInput {
  hook_event_name: string;
  tool_name?: string;
  tool_input?: unknown;
  tool_use_id?: string;
  tool_response?: unknown;
  error?: string;
}
interface Begun {
  done: (result: unknown) => void;
  failed: (error: Error) => void;
  /** Once the outcome has been told. */
  reported: () => Promise<unknown>;
}
/** What the tool says of itself, whatever its words are. */
class ToolFailed extends Error {}

type Hook = (
  input: HookInput,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
) => Promise<object>;

/** A person has so long to decide, in seconds; a hook that takes longer is ended by the SDK, which blocks the call. */
const WAIT_SECONDS = 3_600;

/**
 * For `hooks` of `query({ prompt, options })`. The hook stands before every call of a tool and blocks it until it is decided, whatever
 * the rules and the permission mode are, which `canUseTool` does not; if it fails, the call is blocked. What became of the call is
 * reported by the hooks behind it.
 *
 * @param client with the token of an agent
 */
export function guardHooks(
  client: Consigliere,
  {
    nameOf = (tool) => `claude.${tool}`,
    matcher,
    timeout = (WAIT_SECONDS - 60) * 1_000,
    ...asked
  }: GuardHooksOptions = {},
) {
  /** The calls that are under way, by their id. */
  const begun = new Map<string, Begun>();
  const before: Hook = ({ tool_name = '', tool_input, tool_use_id = '' }, _id, { signal }) =>
    new Promise((answer) => {
      const deny = (reason: string) => answer(decision('deny', { permissionDecisionReason: reason }));
      const act = (params: Record<string, unknown>) =>
        new Promise((done, failed) => {
          begun.set(tool_use_id, { done, failed, reported: () => reported });
          answer(decision('allow', { updatedInput: params }));
        });
      const options = { ...asked, timeout, externalId: tool_use_id, signal };
      const asking = client.actions.run(
        nameOf(tool_name),
        tool_input as Record<string, unknown>,
        act,
        options,
      );
      const reported = asking
        .then((ran) => ran.isDone || deny(ran.text))
        .catch((error: Error) => deny(error.message));
    });
  const after: Hook = async ({ hook_event_name, tool_use_id = '', tool_response, error }) => {
    const call = begun.get(tool_use_id);
    begun.delete(tool_use_id);
    if (hook_event_name === 'PostToolUse') call?.done(tool_response);
    else call?.failed(new ToolFailed(error ?? 'It gave no reason.'));
    await call?.reported();
    return {};
  };
  const entry = (hook: Hook) => [
    {
      ...(matcher !== undefined && { matcher }),
      hooks: [hook],
      timeout: WAIT_SECONDS,
      onFailure: 'block' as const,
    },
  ];
  return { PreToolUse: entry(before), PostToolUse: entry(after), PostToolUseFailure: entry(after) };
}

function decision(permissionDecision: 'allow' | 'deny', more: object): object {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more } };
}
