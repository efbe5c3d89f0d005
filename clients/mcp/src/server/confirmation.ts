import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** The answer of a person: what they wrote, where they answered at all. */
interface Answered {
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
    const { inputResponses, requestState } = this.context.mcpReq;
    const { action, content } = (inputResponses?.['confirmation'] ?? {}) as Partial<Answered>;
    return action !== undefined && requestState<string>() === subject
      ? { action, content: content ?? {} }
      : undefined;
  }

  ask(subject: string, message: string, property: Record<string, unknown>): InputRequiredResult {
    return inputRequired({
      requestState: subject,
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
