import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** What a person was shown when asked, and what the change that follows is called in all tries of the call. */
interface Shown {
  subject: string;
  idempotencyKey: string;
}

/** The answer of a person: what they wrote, where they answered at all. */
export interface Answered {
  shown: Shown;
  action: 'accept' | 'decline' | 'cancel';
  content: Record<string, unknown>;
}

/** Asks the person in front of the client, where the client can show a form. */
export class Confirmation {
  constructor(
    private readonly server: McpServer,
    private readonly context: ServerContext,
  ) {}

  /** In the 2026-07-28 revision each request says what its client can; in earlier ones the handshake did. */
  get canAsk(): boolean {
    const envelope = this.context.mcpReq.envelope as
      { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
    const capabilities = envelope
      ? envelope[CLIENT_CAPABILITIES_META_KEY]
      : this.server.server.getClientCapabilities();
    const elicitation = capabilities?.elicitation;
    // Without a mode it is a form (2025-06-18).
    return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  }

  /**
   * What the person answered when they were shown this subject. The state comes back through the client, which could change it:
   * it grants nothing, since its subject has to be the current one, and the service checks the content hash again.
   */
  answerAbout(subject: string): Answered | undefined {
    const answer = this.context.mcpReq.inputResponses?.['confirmation'] as Partial<Answered> | undefined;
    const shown = shownIn(this.context.mcpReq.requestState<string>());
    if (!answer?.action || shown?.subject !== subject) return undefined;
    return { shown, action: answer.action, content: answer.content ?? {} };
  }

  ask(subject: string, message: string, property: Record<string, unknown>): InputRequiredResult {
    const shown: Shown = { subject, idempotencyKey: crypto.randomUUID() };
    return inputRequired({
      requestState: JSON.stringify(shown),
      inputRequests: {
        confirmation: inputRequired.elicit({
          message,
          requestedSchema: {
            type: 'object',
            properties: { confirm: property as { type: 'boolean' } },
            required: ['confirm'],
          },
        }),
      },
    });
  }
}

function shownIn(state: string | undefined): Shown | undefined {
  try {
    const { subject, idempotencyKey } = JSON.parse(state ?? '{}') as Partial<Shown>;
    const isWhole = typeof subject === 'string' && typeof idempotencyKey === 'string';
    return isWhole ? { subject, idempotencyKey } : undefined;
  } catch {
    return undefined;
  }
}
