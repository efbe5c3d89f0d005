import type { Consigliere, RegisterToolBody, ToolView } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define, defineCalls, defineList, group, jsonOf, readInput, TEAM } from '../command.js';
import { CliError, EXIT, UsageError } from '../errors.js';
import { onOneLine, record, say, table } from '../output.js';

const POLICY = 'Policy and agents:';

interface AgentOptions {
  tool: string[];
  risk?: RegisterToolBody['risk'];
  reversibility?: RegisterToolBody['reversibility'];
  schema?: string;
  param?: string[];
}

/** A schema of `name:type`, with a question mark where the parameter may be missing. */
function schemaOf(params: string[]): Record<string, unknown> {
  const parsed = params.map((text) => {
    const [, name, type, optional] =
      /^([^:]+):(string|number|integer|boolean|array|object)(\??)$/.exec(text) ?? [];
    if (!name) throw new UsageError(`${text} is not name:type, such as amount:integer or note:string?`);
    return { name, type, isRequired: optional === '' };
  });
  return {
    type: 'object',
    properties: Object.fromEntries(parsed.map(({ name, type }) => [name, { type }])),
    required: parsed.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}

export function agents(program: Command): void {
  agentsGroup(program);
  actions(program);
  questions(program);
  tools(program);
}

function agentsGroup(program: Command): void {
  const all = group(program, 'agents', 'Capos, and agents from outside', POLICY);
  define(all, {
    usage: 'list',
    summary: 'List capos and agents, with what they are doing',
    run: async ({ client }) => client.agents.list(),
    show: ({ agents: capos, outsideAgents }) =>
      table(
        [
          ...capos.map(({ role, status, statusReason: reason }) => ({
            agent: role as string,
            status,
            reason,
          })),
          ...outsideAgents.map(({ name: agent, status, tools: allowed }) => {
            return { agent, status, reason: `It may ask for ${allowed.join(', ')}.` };
          }),
        ],
        ['agent', 'status', 'reason'],
      ),
  });
  define(all, {
    usage: 'add <name>',
    summary: 'Make a token for an agent, and register its tools',
    options: [
      [
        '--tool <name>',
        'what it may ask for: stripe.refund, or crm.*; repeat for more',
        { repeats: true, required: true },
      ],
      [
        '--param <name:type>',
        'a parameter of the tool: amount:integer, note:string?; repeat for more',
        { repeats: true },
      ],
      ['--schema <file>', 'the JSON Schema of the parameters instead'],
      ['--risk <risk>', 'of the tools', { choices: ['low', 'medium', 'high', 'critical'] }],
      [
        '--reversibility <kind>',
        'of the tools',
        { choices: ['read_only', 'reversible', 'externally_reversible', 'irreversible'] },
      ],
    ],
    examples: [
      'consigliere agents add billing --tool stripe.refund --param amount:integer --param charge:string >> .env',
      'consigliere agents add crm --tool "crm.contacts.*" >> .env',
    ],
    async run({ client, session, args, options }: Context<AgentOptions>) {
      const name = args[0]!;
      const { tool, risk, reversibility, schema, param } = options;
      // A tool without a schema takes no parameters, so it stays unregistered: its calls ask a person as they are.
      const paramsSchema = schema
        ? (jsonOf(await readInput(schema), schema) as Record<string, unknown>)
        : param && schemaOf(param);
      if (paramsSchema && tool.length > 1)
        throw new UsageError('Parameters belong to one --tool: register others with `tools add`.');
      if (!paramsSchema && (risk ?? reversibility))
        throw new UsageError('--risk and --reversibility need --param or --schema.');
      const registered = [];
      if (paramsSchema) {
        const { status } = await client.tools.create({ name: tool[0]!, paramsSchema, risk, reversibility });
        registered.push({ name: tool[0]!, status });
      }
      const body = { name, agent: { name }, tools: tool, scopes: ['request'] as ['request'] };
      const { token, tokenId } = await client.tokens.create(body);
      return { name, tokenId, tools: tool, registered, baseUrl: session.baseUrl, token };
    },
    show: ({ name, tokenId, tools: allowed, registered, baseUrl, token }) => {
      say(`${name} (${tokenId}) may ask for ${allowed.join(', ')}. Its token is shown this once.`);
      if (registered.length === 0)
        say('Without --param or --schema no tool was registered, so each of its calls asks a person.');
      return `CONSIGLIERE_BASE_URL=${baseUrl}\nCONSIGLIERE_TOKEN=${token}`;
    },
  });
  for (const verb of ['pause', 'resume'] as const) {
    define<object, object>(all, {
      usage: `${verb} <agent>`,
      summary: `${verb === 'pause' ? 'Pause' : 'Resume'} a capo, or an agent by its name or token`,
      async run({ client, args }) {
        const { agents: capos, outsideAgents } = await client.agents.list();
        const asked = args[0]!;
        if (capos.some(({ role }) => role === asked)) return client.agents[verb](asked);
        const agent = outsideAgents.find(({ name, tokenId }) => asked === tokenId || asked === name);
        if (!agent)
          throw new CliError(`There is no agent ${asked}.`, EXIT.notFound, 'See `consigliere agents list`.');
        return client.tokens[verb](agent.tokenId);
      },
      show: (_, { args: [name = ''] }) => {
        const hint = `To let it go on: consigliere agents resume ${name}`;
        return onOneLine(verb === 'pause' ? `${name} is paused. ${hint}` : `${name} may go on.`);
      },
    });
  }
}

function actions(program: Command): void {
  const all = group(program, 'actions', 'What agents from outside ask to do', POLICY);
  defineList(all, {
    summary: 'List action requests, the newest first',
    filters: [
      ['--status <status>', 'pending, allowed, approved, denied, consumed, completed, unconfirmed, ...'],
      ['--tool <name>', 'only calls of this tool'],
      ['--agent <name>', 'only those of this agent'],
      TEAM,
    ],
    call: (client, query) => client.actions.list(query),
    columns: ['actionRequestId', 'status', 'agent', 'title', 'createdAt'],
    empty: 'No agent has asked for anything.',
  });
  defineCalls(all, [
    ['get <actionRequestId>', 'Show one with its parameters', (client, id) => client.actions.get(id)],
    ['cancel <actionRequestId>', 'Cancel it', (client, id) => client.actions.cancel(id), 'is cancelled.'],
  ]);
}

function questions(program: Command): void {
  const all = group(program, 'questions', 'What agents ask people', POLICY);
  defineList(all, {
    summary: 'List questions, the newest first',
    filters: [
      ['--status <status>', 'pending, answered, declined, ...'],
      ['--agent <name>', 'only of this agent'],
      TEAM,
    ],
    call: (client, query) => client.questions.list(query),
    columns: ['questionId', 'status', 'agent', 'title', 'createdAt'],
    empty: 'No agent has asked anything.',
  });
  defineCalls(all, [
    ['get <questionId>', 'Show a question and its answer', (client, id) => client.questions.get(id)],
    ['cancel <questionId>', 'Cancel it', (client, id) => client.questions.cancel(id), 'is cancelled.'],
  ]);
  define(all, {
    usage: 'answer <questionId> <values...>',
    summary: 'Answer it: name=value for each field, or one JSON object',
    examples: ['consigliere questions answer qst_01... amount=20 reason="As agreed"'],
    async run({ client, args }) {
      const [questionId, ...values] = args;
      const { approvalId, answerSchema } = await client.questions.get(questionId!);
      const fields = (answerSchema as { properties?: Record<string, { type?: string }> }).properties ?? {};
      const answer = values[0]!.startsWith('{')
        ? (jsonOf(values[0]!, 'The answer') as Record<string, unknown>)
        : Object.fromEntries(
            values.map((text) => {
              const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
              if (!name) throw new UsageError(`${text} is not name=value.`);
              const isText = (fields[name]?.type ?? 'string') === 'string';
              return [name, isText ? value : jsonOf(value, name)];
            }),
          );
      return client.questions.respond(approvalId, { answer });
    },
    show: ({ approvalId, status, receiptId }) => record({ approval: approvalId, status, receipt: receiptId }),
  });
}

function tools(program: Command): void {
  const all = group(program, 'tools', 'What agents may ask to do, and how it is checked', POLICY);
  defineList(all, {
    summary: 'List tools',
    filters: [['--status <status>', 'only those', { choices: ['proposed', 'active', 'paused'] }]],
    call: (client, query) => client.tools.list(query),
    columns: ['name', 'status', 'risk', 'reversibility', 'title'],
    empty: 'No tools. Every call of an agent asks a person.',
  });
  const pause = (client: Consigliere, tool: string) => client.tools.update(tool, { status: 'paused' });
  defineCalls(all, [
    ['get <tool>', 'Show a tool with its schema', (client, name) => client.tools.get(name)],
    ['pause <tool>', 'Refuse every call of it', pause, 'is paused: every call of it is refused.'],
    [
      'delete <tool>',
      'Delete it; its calls ask a person',
      (client, id) => client.tools.delete(id),
      'is deleted.',
    ],
  ]);
  define(all, {
    usage: 'activate <tool>',
    summary: 'Activate a proposed or paused tool after reading it',
    options: [['--fingerprint <hash>', 'the fingerprint of what you read (`tools get`)', { required: true }]],
    run: async ({ client, args, options }: Context<{ fingerprint: string }>) =>
      client.tools.update(args[0]!, { status: 'active' }, { ifMatch: options.fingerprint }),
    show: toolState,
  });
  define(all, {
    usage: 'add <file>',
    summary: 'Register a tool from JSON; `-` reads standard input',
    examples: ['consigliere tools add refund.json'],
    run: async ({ client, args }) =>
      client.tools.create(jsonOf(await readInput(args[0]!), args[0]!) as RegisterToolBody),
    show: toolState,
  });
}

function toolState({ name, status }: ToolView): string {
  return `${onOneLine(name)} is ${status}.`;
}
