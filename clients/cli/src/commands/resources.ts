import type { RegisterToolBody } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define, defineCalls, defineList, group, jsonOf, readInput } from '../command.js';
import { CliError, EXIT, UsageError } from '../errors.js';
import { record, say, styled, styleOf, table, visible } from '../output.js';

const WORK = 'Work';
const POLICY = 'Policy and agents';
const TEAM: [string, string] = ['--team <teamId>', 'only those of this team'];

/** The groups that list, show and change one kind of record, and do nothing else. */
export function resources(program: Command): void {
  actions(program);
  questions(program);
  tools(program);
  schedules(program);
  signals(program);
  escalations(program);
  evals(program);
  teams(program);
  tokens(program);
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
    columns: [
      'actionRequestId',
      'status',
      { head: 'Agent', cell: ({ agent }) => agent.name },
      'title',
      'createdAt',
    ],
    empty: 'No agent has asked for anything.',
  });
  defineCalls(all, [
    ['get <actionRequestId>', 'Show one with its parameters', (client, id) => client.actions.get(id)],
    ['cancel <actionRequestId>', 'Take it back', (client, id) => client.actions.cancel(id)],
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
    columns: [
      'questionId',
      'status',
      { head: 'Agent', cell: ({ agent }) => agent.name },
      'title',
      'createdAt',
    ],
    empty: 'No agent has asked anything.',
  });
  defineCalls(all, [
    ['get <questionId>', 'Show a question and its answer', (client, id) => client.questions.get(id)],
    ['cancel <questionId>', 'Take it back', (client, id) => client.questions.cancel(id)],
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
  defineCalls(all, [
    ['get <tool>', 'Show a tool with its schema', (client, name) => client.tools.get(name)],
    [
      'pause <tool>',
      'Let no call of it through',
      (client, name) => client.tools.update(name, { status: 'paused' }),
    ],
    ['delete <tool>', 'Forget it; its calls ask a person', (client, name) => client.tools.delete(name)],
  ]);
  define(all, {
    usage: 'activate <tool>',
    summary: 'Activate a proposed or paused tool after reading it',
    options: [['--fingerprint <hash>', 'the fingerprint of what you read (`tools get`)', { required: true }]],
    run: async ({ client, args, options }: Context<{ fingerprint: string }>) =>
      client.tools.update(args[0]!, { status: 'active' }, { ifMatch: options.fingerprint }),
  });
  define(all, {
    usage: 'add <file>',
    summary: 'Register a tool from JSON; `-` reads standard input',
    examples: ['consigliere tools add refund.json'],
    run: async ({ client, args }) =>
      client.tools.create(jsonOf(await readInput(args[0]!), args[0]!) as RegisterToolBody),
  });
}

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

interface ScheduleOptions {
  at: string;
  every: 'day' | 'week' | 'month';
  on?: string;
  timezone?: string;
  capo?: 'ceo';
}

function schedules(program: Command): void {
  const all = group(program, 'schedules', 'Directives that are handed in by themselves', WORK);
  defineList(all, {
    summary: 'List schedules',
    filters: [['--status <status>', 'only those', { choices: ['active', 'paused'] }], TEAM],
    call: (client, query) => client.schedules.list(query),
    columns: ['scheduleId', 'status', 'name', 'nextRunAt', 'lastRunAt'],
    empty: 'No schedules.',
  });
  define(all, {
    usage: 'add <name> <text>',
    summary: 'Hand in a directive every day, week or month',
    options: [
      ['--every <period>', 'how often', { choices: ['day', 'week', 'month'], default: 'day' }],
      ['--at <HH:mm>', 'at what time of the day', { required: true }],
      ['--on <day>', 'mon to sun, or the day of the month'],
      ['--timezone <zone>', "in this zone; without it in the workspace's"],
      ['--capo <role>', 'who does it'],
    ],
    examples: [
      'consigliere schedules add Monday "Give me a report on the revenue of this week" --every week --on mon --at 08:00',
    ],
    async run({ client, args, options }: Context<ScheduleOptions>) {
      const { every, at, on, timezone, capo } = options;
      const day = WEEKDAYS.find((one) => one === on) ?? (on === undefined ? undefined : Number(on));
      if (Number.isNaN(day)) throw new UsageError(`${on} is neither mon to sun nor a day of the month.`);
      return client.schedules.create({
        name: args[0]!,
        directive: { text: args[1]!, ...(capo && { capo }) },
        rule: { every, at, ...(day !== undefined && { on: day }), ...(timezone && { timezone }) },
      });
    },
  });
  defineCalls(all, [
    ['get <scheduleId>', 'Show a schedule', (client, id) => client.schedules.get(id)],
    ['run <scheduleId>', 'Hand it in now', (client, id) => client.schedules.run(id)],
    ['pause <scheduleId>', 'Pause it', (client, id) => client.schedules.update(id, { status: 'paused' })],
    ['resume <scheduleId>', 'Go on', (client, id) => client.schedules.update(id, { status: 'active' })],
    ['delete <scheduleId>', 'Remove it', (client, id) => client.schedules.delete(id)],
  ]);
}

function signals(program: Command): void {
  const all = group(program, 'signals', 'What Consigliere noticed', WORK);
  defineList(all, {
    summary: 'List signals, the newest first',
    filters: [
      ['--severity <severity>', 'only those', { choices: ['info', 'warning', 'critical'] }],
      ['--type <type>', 'revenue, buyer, confidence, connector, policy, agent, report or partner'],
      ['--status <status>', 'open, acknowledged, ...'],
      TEAM,
    ],
    call: (client, query) => client.signals.list(query),
    columns: ['signalId', 'severity', 'type', 'title', 'createdAt'],
    empty: 'No signals.',
  });
  defineCalls(all, [['get <signalId>', 'Show a signal', (client, id) => client.signals.get(id)]]);
  define(all, {
    usage: 'ack <signalId> [note]',
    summary: 'Acknowledge a signal',
    run: async ({ client, args: [signalId, note] }) =>
      client.signals.acknowledge({ signalId: signalId!, ...(note && { note }) }),
  });
}

function escalations(program: Command): void {
  const all = group(program, 'escalations', 'What needs a decision beside the queue', WORK);
  defineList(all, {
    summary: 'List open escalations',
    filters: [
      ['--status <status>', 'open, resolved or dismissed'],
      ['--kind <kind>', 'only those of this kind'],
      TEAM,
    ],
    call: (client, query) => client.escalations.list(query),
    columns: [
      'escalationId',
      'kind',
      'reason',
      { head: 'Options', cell: ({ options }) => options.join(' ') },
      'createdAt',
    ],
    empty: 'Nothing is escalated.',
  });
  defineCalls(all, [
    ['get <escalationId>', 'Show what each option does', (client, id) => client.escalations.get(id)],
  ]);
  define(all, {
    usage: 'decide <escalationId> <option>',
    summary: 'Decide it with one of its options',
    options: [['--note <text>', 'why']],
    run: async ({ client, args, options }: Context<{ note?: string }>) =>
      client.escalations.decide({
        escalationId: args[0]!,
        decision: args[1]!,
        ...(options.note && { note: options.note }),
      }),
  });
}

function evals(program: Command): void {
  const all = group(program, 'evals', 'Safety checks of orders, drafts and skills', POLICY);
  defineList(all, {
    summary: 'List runs, the newest first',
    filters: [['--kind <kind>', 'only those of this kind'], TEAM],
    call: (client, query) => client.evals.list(query),
    columns: [
      'evalRunId',
      {
        head: 'Passed',
        cell: ({ passed }) => (passed ? 'yes' : 'no'),
        style: ({ passed }) => (passed ? 'green' : 'red'),
      },
      'score',
      'name',
      'createdAt',
    ],
    empty: 'No runs.',
  });
  define(all, {
    usage: 'run <id>',
    summary: 'Check a standing order (so_), a work packet (pkt_) or a skill; ends with 1 where it fails',
    options: [['--name <name>', 'what to call the run']],
    progress: 'Checking',
    async run({ client, args, options }: Context<{ name?: string }>) {
      const id = args[0]!;
      const targetEntityType = id.startsWith('so_')
        ? ('standing_order' as const)
        : id.startsWith('pkt_')
          ? ('workflow_candidate' as const)
          : ('skill' as const);
      const found = await client.evals.run({
        name: options.name ?? `Check of ${id}`,
        targetEntityType,
        targetEntityId: id,
      });
      if (!found.passed) process.exitCode = EXIT.error;
      return found;
    },
    show: ({ evalRunId, score, threshold, passed, findings }) =>
      [
        styled(
          passed ? 'green' : 'red',
          `${passed ? 'Passed' : 'Failed'}: ${score} of at least ${threshold}`,
        ),
        ...findings.map(({ severity, path, message, suggestion }) =>
          styled(styleOf(severity) ?? 'dim', visible(`${severity}  ${path}: ${message} ${suggestion}`)),
        ),
        record({ run: evalRunId }),
      ].join('\n'),
  });
  defineCalls(all, [
    ['get <evalRunId>', 'Show a run with its findings', (client, id) => client.evals.get(id)],
  ]);
}

const TEAM_ROLES = ['viewer', 'operator', 'admin'];

function teams(program: Command): void {
  const all = group(program, 'teams', 'Teams and their members', 'Set-up');
  defineList(all, {
    summary: 'List teams',
    call: (client, query) => client.teams.list(query),
    columns: ['teamId', 'name', 'memberCount', 'createdAt'],
    empty: 'No teams.',
  });
  defineList(all, {
    usage: 'members <teamId>',
    summary: 'List the members of a team',
    call: (client, query, args) => client.teamMembers.list(args[0]!, query),
    columns: ['memberId', 'displayName', 'email', 'role', 'lastSeenAt'],
    empty: 'No members.',
  });
  defineCalls(all, [
    ['create <name>', 'Make a team', (client, name) => client.teams.create({ name })],
    ['archive <teamId>', 'Archive a team without open work', (client, id) => client.teams.archive(id, {})],
  ]);
  define(all, {
    usage: 'add <teamId> <email>',
    summary: 'Add a member, or invite someone new',
    options: [['--role <role>', 'what they may do there', { choices: TEAM_ROLES, default: 'operator' }]],
    run: async ({ client, args, options }: Context<{ role: 'operator' }>) =>
      client.teamMembers.add(args[0]!, { email: args[1]!, role: options.role }),
    show: ({ member, invite }) =>
      member
        ? `${visible(member.displayName)} is a member now.`
        : `${invite!.email} is invited (${invite!.inviteId}), and gets a mail.`,
  });
  define(all, {
    usage: 'remove <teamId> <memberId>',
    summary: 'Remove a member from a team',
    run: async ({ client, args }) => client.teamMembers.remove(args[0]!, args[1]!),
  });
}

interface TokenOptions {
  scope?: ('read' | 'request' | 'operate' | 'decide' | 'admin')[];
  days?: string;
}

function tokens(program: Command): void {
  const all = group(program, 'tokens', 'Tokens of people and agents', 'Set-up');
  defineList(all, {
    summary: 'List tokens; a token itself is never shown again',
    call: (client, query) => client.tokens.list(query),
    columns: [
      'tokenId',
      { head: 'Name', cell: ({ name, agent }) => (agent ? `${name} (agent)` : name), shrinks: true },
      { head: 'Ends in', cell: ({ hint }) => hint },
      'memberName',
      'lastUsedAt',
    ],
    empty: 'No tokens.',
  });
  define(all, {
    usage: 'create <name>',
    summary: 'Make an operator token for yourself, shown once',
    options: [
      [
        '--scope <scope>',
        'narrow it: read, request, operate, decide, admin; repeat for more',
        { repeats: true },
      ],
      ['--days <n>', 'how long it is valid', { number: true }],
    ],
    run: async ({ client, args, options }: Context<TokenOptions>) =>
      client.tokens.create({
        name: args[0]!,
        ...(options.scope && { scopes: options.scope }),
        ...(options.days && { expiresAt: Date.now() + Number(options.days) * 86_400_000 }),
      }),
    show: newToken,
  });
  defineCalls(all, [
    [
      'rotate <tokenId>',
      'Replace it by a new one, shown once',
      (client, id) => client.tokens.rotate(id),
      newToken,
    ],
    ['revoke <tokenId>', 'Make it worthless at once', (client, id) => client.tokens.revoke(id)],
    ['pause <tokenId>', 'Pause the token of an agent', (client, id) => client.tokens.pause(id)],
    ['resume <tokenId>', 'Let the agent go on', (client, id) => client.tokens.resume(id)],
  ]);
}

function newToken({ tokenId, token }: { tokenId: string; token: string }): string {
  say(`${tokenId}, shown this once:`);
  return token;
}

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
  const all = group(program, 'agents', 'Capos, and agents from outside', POLICY);
  define(all, {
    usage: 'list',
    summary: 'List capos and agents, with what they are doing',
    run: async ({ client }) => client.agents.list(),
    show: ({ agents: capos, outsideAgents }) =>
      table(
        [
          ...capos.map(({ role, status, statusReason }) => ({
            agent: role as string,
            status,
            reason: statusReason,
          })),
          ...outsideAgents.map(({ name, status, tools: allowed }) => ({
            agent: name,
            status,
            reason: `It may ask for ${allowed.join(', ')}.`,
          })),
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
        throw new UsageError(
          'Parameters are those of one --tool: register others with `consigliere tools add`.',
        );
      if (!paramsSchema && (risk ?? reversibility))
        throw new UsageError('--risk and --reversibility need --param or --schema.');
      const registered = [];
      if (paramsSchema) {
        const body = {
          name: tool[0]!,
          paramsSchema,
          ...(risk && { risk }),
          ...(reversibility && { reversibility }),
        };
        const { status } = await client.tools.create(body);
        registered.push({ name: tool[0]!, status });
      }
      const { token, tokenId } = await client.tokens.create({
        name,
        agent: { name },
        tools: tool,
        scopes: ['request'],
      });
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
      summary: verb === 'pause' ? 'Pause a capo, or an agent by its name or token' : 'Let it go on',
      async run({ client, args }) {
        const { agents: capos, outsideAgents } = await client.agents.list();
        const asked = args[0]!;
        if (capos.some(({ role }) => role === asked)) return client.agents[verb](asked);
        const agent = outsideAgents.find(({ name, tokenId }) => asked === tokenId || asked === name);
        if (!agent)
          throw new CliError(`There is no agent ${asked}.`, EXIT.notFound, 'See `consigliere agents list`.');
        return client.tokens[verb](agent.tokenId);
      },
    });
  }
}
