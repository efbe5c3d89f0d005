import type { ApprovalView, CallOptions, Consigliere } from '@consigliere/sdk';
import type { InputRequiredResult, Tool as ListedTool, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ASK, DECIDE, type Needs, OPERATE, READ } from './access.js';
import type { Confirmation } from './confirmation.js';
import { visible } from './wording.js';

/** What one call of a tool has at hand. */
interface ToolCall {
  client: Consigliere;
  confirmation: Confirmation;
  /** Ends with the call; names the change where the client has named it. */
  options: Pick<CallOptions, 'signal' | 'idempotencyKey'>;
}

/** What keeps a tool from acting, in words for the model; the last sentence says what to do. */
export class Declined extends Error {}

/** Arguments that do not fit the schema, each with its path. */
export class BadArguments extends Error {}

type Answer = object | InputRequiredResult;

interface Definition<I extends z.ZodObject> {
  name: string;
  title: string;
  description: string;
  needs: Needs;
  annotations: ToolAnnotations;
  /** Nothing in the answer was written by a capo, an agent or a third party. */
  isTrusted?: true;
  input: I;
  output: z.ZodObject;
  call(input: z.output<I>, call: ToolCall): PromiseLike<Answer>;
}

export interface Tool {
  name: string;
  needs: Needs;
  isTrusted: boolean;
  /** As `tools/list` shows it. */
  listed: ListedTool;
  /** @throws BadArguments */
  call(given: unknown, call: ToolCall): Promise<Answer>;
}

function tool<I extends z.ZodObject>(definition: Definition<I>): Tool {
  const { name, title, description, needs, annotations, isTrusted = false, input, output } = definition;
  return {
    name,
    needs,
    isTrusted,
    listed: {
      name,
      title,
      description,
      annotations,
      inputSchema: jsonSchemaOf(input, 'input') as ListedTool['inputSchema'],
      outputSchema: jsonSchemaOf(output, 'output') as ListedTool['outputSchema'],
    },
    async call(given, call) {
      const read = input.safeParse(given ?? {});
      if (read.success) return definition.call(read.data, call);
      const faults = read.error.issues.map(
        ({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`,
      );
      throw new BadArguments(faults.join('; '));
    },
  };
}

/** As short as it can be: each list of tools costs the model's context. */
function jsonSchemaOf(schema: z.ZodObject, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, additionalProperties, ...made } = z.toJSONSchema(schema, { io });
  return additionalProperties === false ? { ...made, additionalProperties } : made;
}

const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
const CHANGES: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};
const ENDS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};

/** An id as the service makes them: nothing that would be another path. */
const id = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_\\w+$`));
const APPROVAL_ID = id('apr');
const CAPO = z.enum(['capo_marketing', 'capo_revenue', 'capo_ops', 'capo_product', 'ceo']);
const PRIORITY = z.enum(['high', 'medium', 'low']);
const WAIT = z.int().min(0).max(30).optional().describe('Seconds to wait');
const PAGE = {
  limit: z.int().min(1).max(100).optional(),
  cursor: z.string().optional().describe('nextCursor of the page before'),
};
const LIST = z.looseObject({
  items: z.array(z.looseObject({})),
  total: z.number(),
  nextCursor: z.string().nullable(),
});
const HASH = z.string().nullable();
const DECIDED = z.looseObject({
  approvalId: z.string(),
  status: z.string(),
  directiveStatus: z.string().nullable(),
  receiptId: z.string(),
});
const APPROVAL = z.looseObject({
  approvalId: z.string(),
  kind: z.string(),
  status: z.string(),
  ready: z.boolean(),
  title: z.string(),
  contentHash: HASH,
  packets: z.array(z.looseObject({})),
});

/** The whole surface, in the order of a working day. Action requests are left out on purpose (docs/decisions/0054). */
export const TOOLS: readonly Tool[] = [
  tool({
    name: 'service/get-context',
    title: 'Context',
    description:
      'The state of the workspace: open signals, work packets, standing orders, metrics, guardian, latest receipts.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({}),
    output: z.looseObject({
      generatedAt: z.string(),
      guardian: z.looseObject({}),
      metrics: z.looseObject({}),
    }),
    call: (_, { client, options }) => client.context.get(options),
  }),
  tool({
    name: 'service/directive',
    title: 'Hand in a directive',
    description:
      'Hands in work in plain words. A capo drafts it; nothing is sent before a person approves. Read the draft with service/approvals/get.',
    needs: OPERATE,
    annotations: CHANGES,
    isTrusted: true,
    input: z.strictObject({
      text: z.string().min(1).max(20_000),
      capo: CAPO.optional().describe('Left out: the consigliere chooses'),
      priority: PRIORITY.optional(),
      deadline: z.string().optional().describe('ISO 8601'),
      context: z.record(z.string(), z.unknown()).optional(),
      teamId: id('team').optional(),
    }),
    output: z.looseObject({ directiveId: z.string(), approvalId: z.string(), status: z.string() }),
    call: (body, { client, options }) => client.directives.queue(body, options),
  }),
  tool({
    name: 'service/directives/list',
    title: 'List directives',
    description: 'Directives, newest first.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({
      status: z
        .enum([
          'pending_approval',
          'queued',
          'executing',
          'sending',
          'executed',
          'failed',
          'rejected',
          'expired',
          'cancelled',
          'halted',
          'reverted',
        ])
        .optional(),
      capo: CAPO.optional(),
      ...PAGE,
    }),
    output: LIST,
    call: (query, { client, options }) => client.directives.list(query, options),
  }),
  tool({
    name: 'service/directives/get',
    title: 'Read a directive',
    description: 'One directive with its output, cost and history.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({ directiveId: id('dir') }),
    output: z.looseObject({ directiveId: z.string(), status: z.string(), approvalId: z.string().nullable() }),
    call: ({ directiveId }, { client, options }) => client.directives.get(directiveId, options),
  }),
  tool({
    name: 'service/approvals/list',
    title: 'List approvals',
    description: 'What waits for a person, urgent and oldest first; with status also what was decided.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({
      status: z
        .enum(['pending', 'approved', 'rejected', 'changes_requested', 'expired', 'cancelled'])
        .optional(),
      capo: CAPO.optional(),
      urgent: z.boolean().optional(),
      ...PAGE,
    }),
    output: LIST,
    call: (query, { client, options }) => client.approvals.list(query, options),
  }),
  tool({
    name: 'service/approvals/get',
    title: 'Read an approval',
    description:
      'The draft under review, whole: every work packet with its parameters, why it asks, and the contentHash that approving names.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({
      approvalId: APPROVAL_ID,
      wait: WAIT.describe('Seconds to wait for a draft that is being made'),
    }),
    output: APPROVAL,
    call: ({ approvalId, wait }, { client, options }) => client.approvals.get(approvalId, { wait }, options),
  }),
  tool({
    name: 'service/approvals/approve',
    title: 'Approve',
    description:
      'Approves a draft, which is then sent. The person is asked where the client can ask; otherwise confirm must be the contentHash that the person has read.',
    needs: DECIDE,
    annotations: { ...ENDS, openWorldHint: true },
    isTrusted: true,
    input: z.strictObject({
      approvalId: APPROVAL_ID,
      confirm: z.string().optional().describe('contentHash from service/approvals/get'),
    }),
    output: DECIDED,
    call: approve,
  }),
  tool({
    name: 'service/approvals/reject',
    title: 'Reject',
    description: 'Rejects a draft with a reason, or with revise sends it back for another draft.',
    needs: DECIDE,
    annotations: ENDS,
    isTrusted: true,
    input: z.strictObject({
      approvalId: APPROVAL_ID,
      feedback: z.string().min(1).max(10_000),
      revise: z.boolean().optional(),
    }),
    output: DECIDED,
    async call({ approvalId, ...body }, { client, options }) {
      assertDecidedHere(await client.approvals.get(approvalId, undefined, { signal: options.signal }));
      return client.approvals.reject(approvalId, body, options);
    },
  }),
  tool({
    name: 'service/approvals/edit',
    title: 'Edit a draft',
    description: 'Changes what would be sent. It stays pending under a new contentHash.',
    needs: DECIDE,
    annotations: { ...ENDS, idempotentHint: false },
    input: z.strictObject({
      approvalId: APPROVAL_ID,
      contentHash: z.string().describe('Of what was read'),
      packets: z
        .array(
          z.strictObject({
            workPacketId: id('pkt'),
            params: z.record(z.string(), z.unknown()).optional().describe('All of them'),
            confirm: z
              .array(z.string())
              .optional()
              .describe('Paths of needsInput that are right as they are'),
          }),
        )
        .optional(),
      remove: z.array(id('pkt')).optional(),
      output: z.strictObject({ body: z.string() }).optional().describe('For a single document'),
    }),
    output: APPROVAL,
    async call({ approvalId, contentHash, ...body }, { client, options }) {
      assertDecidedHere(await client.approvals.get(approvalId, undefined, { signal: options.signal }));
      return client.approvals.edit(approvalId, body, { ...options, ifMatch: contentHash });
    },
  }),
  tool({
    name: 'service/standing-orders/list',
    title: 'List standing orders',
    description:
      'The rules that decide what may leave without a person: active ones unless status says otherwise.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({
      status: z.enum(['draft', 'shadow', 'active', 'paused', 'archived', 'all']).optional(),
      ...PAGE,
    }),
    output: LIST,
    call: (query, { client, options }) => client.standingOrders.list(query, options),
  }),
  tool({
    name: 'service/guardian/preflight',
    title: 'Preflight',
    description: 'What would happen with a directive or an action, and why. Changes nothing.',
    needs: OPERATE,
    annotations: READS,
    input: z.strictObject({
      directive: z.string().max(20_000).optional().describe('Either this or action'),
      action: z
        .strictObject({
          type: z.string().describe('Such as email.send'),
          target: z.string().optional(),
          params: z.record(z.string(), z.unknown()),
        })
        .optional(),
      capo: CAPO.optional(),
      teamId: id('team').optional(),
    }),
    output: z.looseObject({
      outcome: z.string(),
      explanation: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
    call: (body, { client, options }) => client.guardian.preflight(body, options),
  }),
  tool({
    name: 'service/guardian/status',
    title: 'Guardian status',
    description: 'The mode, whether the kill switch is engaged and by whom, and what waits.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({}),
    output: z.looseObject({ mode: z.string(), pending: z.number(), killedAt: z.number().nullable() }),
    call: (_, { client, options }) => client.guardian.get(options),
  }),
  tool({
    name: 'service/guardian/kill',
    title: 'Kill switch',
    description:
      'Stops all autonomous work at once; only a person restarts it elsewhere. The person is asked where the client can ask; otherwise confirm must be HALT.',
    needs: OPERATE,
    annotations: ENDS,
    isTrusted: true,
    input: z.strictObject({
      reason: z.string().max(1_000).optional(),
      confirm: z.string().optional().describe('HALT'),
    }),
    output: z.looseObject({
      mode: z.string(),
      changed: z.boolean(),
      epoch: z.number(),
      halted: z.looseObject({}),
    }),
    call: kill,
  }),
  tool({
    name: 'ask_person',
    title: 'Ask a person',
    description:
      'Puts a question into the queue of a person who is not in this conversation, and waits up to 30 s. Still pending: call again with questionId alone.',
    needs: ASK,
    annotations: { ...CHANGES, openWorldHint: false },
    input: z.strictObject({
      question: z.string().min(1).max(300).optional(),
      reason: z.string().max(500).optional(),
      answerSchema: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Flat JSON Schema of an object; left out: free text'),
      expiresInSeconds: z.int().min(60).max(604_800).optional(),
      teamId: id('team').optional(),
      questionId: id('qst').optional().describe('Of an earlier call'),
    }),
    output: z.looseObject({
      questionId: z.string(),
      status: z.string(),
      answer: z.looseObject({}).nullable(),
    }),
    call: askPerson,
  }),
  tool({
    name: 'service/report',
    title: 'Daily report',
    description: 'The Daily Report of a day, today so far unless a date is given.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({ date: z.iso.date().optional() }),
    output: z.looseObject({
      date: z.string(),
      partial: z.boolean(),
      headline: z.string(),
      sections: z.looseObject({}),
    }),
    call: (query, { client, options }) => client.reports.getDaily(query, options) as PromiseLike<object>,
  }),
  tool({
    name: 'service/feed',
    title: 'Feed',
    description: 'What happened, newest first, in plain words.',
    needs: READ,
    annotations: READS,
    input: z.strictObject({
      limit: PAGE.limit,
      before: z.int().min(1).optional().describe('nextBefore of the page before'),
    }),
    output: z.looseObject({ items: z.array(z.looseObject({})), nextBefore: z.number().nullable() }),
    call: (query, { client, options }) => client.feed.list(query, options),
  }),
];

async function approve(
  { approvalId, confirm }: { approvalId: string; confirm?: string },
  { client, confirmation, options }: ToolCall,
): Promise<Answer> {
  const approval = await client.approvals.get(approvalId, undefined, { signal: options.signal });
  assertDecidedHere(approval);
  const { status, ready, contentHash: current } = approval;
  // Decided already: the same answer once more, or an error that says so.
  if (status !== 'pending') return client.approvals.approve(approvalId, { ...options, ifMatch: confirm });
  // What is not there yet has not been read, even if it is there by the time of the call.
  if (!ready || current === null)
    throw new Declined(
      'Nothing was approved: the draft is still being made. Call service/approvals/get with wait: 30 and show it to the person.',
    );
  if (!confirmation.canAsk) {
    if (confirm !== undefined) return client.approvals.approve(approvalId, { ...options, ifMatch: confirm });
    throw new Declined(
      'Nothing was approved. Read the draft with service/approvals/get, show it to the person, and when they agree call this again with confirm set to its contentHash.',
    );
  }
  if (confirm !== undefined && confirm !== current)
    throw new Declined(
      'Nothing was approved: the draft is not the one that confirm names. Read it again with service/approvals/get.',
    );
  const subject = `${approvalId} ${current}`;
  const answer = confirmation.answerAbout(subject);
  if (!answer)
    return confirmation.ask(subject, messageAbout(approval), {
      type: 'boolean',
      title: 'Approve and send',
      default: false,
    });
  if (answer.action !== 'accept' || answer.content['confirm'] !== true)
    throw new Declined(
      'Nothing was approved: the person did not agree. Ask what should change; do not try again by yourself.',
    );
  return client.approvals.approve(approvalId, { ...options, ifMatch: current });
}

async function kill(
  { reason, confirm }: { reason?: string; confirm?: string },
  { client, confirmation, options }: ToolCall,
): Promise<Answer> {
  const body = reason === undefined ? {} : { reason };
  if (!confirmation.canAsk) {
    if (confirm === 'HALT') return client.guardian.kill(body, options);
    throw new Declined(
      'Nothing was stopped. If the person wants everything stopped at once, call this again with confirm: "HALT".',
    );
  }
  const answer = confirmation.answerAbout('HALT');
  if (!answer)
    return confirmation.ask('HALT', 'Stop all autonomous work of the workspace at once? Type HALT.', {
      type: 'string',
      title: 'HALT',
    });
  if (answer.action !== 'accept' || answer.content['confirm'] !== 'HALT')
    throw new Declined(
      'Nothing was stopped: the person did not type HALT. Ask them before you call this again.',
    );
  return client.guardian.kill(body, options);
}

interface Question {
  question?: string;
  questionId?: string;
  reason?: string;
  answerSchema?: Record<string, unknown>;
  expiresInSeconds?: number;
  teamId?: string;
}

const FREE_TEXT = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};

async function askPerson(
  { question, questionId, answerSchema = FREE_TEXT, ...rest }: Question,
  { client, options }: ToolCall,
): Promise<Answer> {
  if ((question === undefined) === (questionId === undefined))
    throw new BadArguments('give question, or the questionId of an earlier call');
  const asked =
    questionId ??
    (await client.questions.create({ title: question!, answerSchema, ...rest }, options)).questionId;
  return client.questions.get(asked, { wait: 30 }, { signal: options.signal });
}

/** What an agent asks to do is decided by a person in front of it, and a question is answered, not approved. */
function assertDecidedHere({ kind, approvalId }: ApprovalView): void {
  if (kind === 'action')
    throw new Declined(
      `Nothing was decided: ${approvalId} is an agent's request for an action, which is not decided over MCP. A person decides it in the dashboard or with \`consigliere approvals review\`.`,
    );
  if (kind === 'question')
    throw new Declined(
      `Nothing was decided: ${approvalId} is a question, which a person answers in the dashboard or with \`consigliere approvals review\`.`,
    );
}

/** All that is sent, for the eyes of the person who decides. */
function messageAbout({
  title,
  summary,
  risk,
  reversibility,
  output,
  packets,
  contentHash,
}: ApprovalView): string {
  const parts = packets.map(
    ({ title: packet, action }) => `- ${packet}\n  ${action.type} ${JSON.stringify(action.params)}`,
  );
  return visible(
    [
      `Approve "${title}"? Risk ${risk}, ${reversibility.replaceAll('_', ' ')}.`,
      summary,
      ...(parts.length > 0 ? parts : [output?.body ?? '']),
      `Content ${contentHash}`,
    ].join('\n'),
  );
}
