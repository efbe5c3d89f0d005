import type { Consigliere, DirectiveView, EvalRunView } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define, defineCalls, defineList, group, TEAM } from '../command.js';
import { EXIT, UsageError } from '../errors.js';
import { onOneLine, record, styled, styleOf, visible } from '../output.js';

const WORK = 'Work:';

export function work(program: Command): void {
  schedules(program);
  signals(program);
  escalations(program);
  evals(program);
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
  const all = group(program, 'schedules', 'Directives on a schedule', WORK);
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
      'consigliere schedules add Monday "File a memo: Check the open offers." --every week --on mon --at 08:00',
    ],
    async run({ client, args, options }: Context<ScheduleOptions>) {
      const { every, at, on, timezone, capo } = options;
      const day = WEEKDAYS.find((one) => one === on) ?? (on === undefined ? undefined : Number(on));
      if (Number.isNaN(day)) throw new UsageError(`${on} is neither mon to sun nor a day of the month.`);
      return client.schedules.create({
        name: args[0]!,
        directive: { text: args[1]!, capo },
        rule: { every, at, on: day, timezone },
      });
    },
    show: ({ scheduleId, name, nextRunAt }) => record({ schedule: scheduleId, name, nextRunAt }),
  });
  const to = (status: 'active' | 'paused') => (client: Consigliere, id: string) =>
    client.schedules.update(id, { status });
  defineCalls(all, [
    ['get <scheduleId>', 'Show a schedule', (client, id) => client.schedules.get(id)],
    [
      'run <scheduleId>',
      'Hand it in now',
      (client, id) => client.schedules.run(id),
      ({ directiveId, status }: DirectiveView) => `Handed in: ${directiveId} (${status})`,
    ],
    ['pause <scheduleId>', 'Pause it', to('paused'), 'is paused.'],
    ['resume <scheduleId>', 'Resume it', to('active'), 'is active again.'],
    ['delete <scheduleId>', 'Delete it', (client, id) => client.schedules.delete(id), 'is deleted.'],
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
      client.signals.acknowledge({ signalId: signalId!, note }),
    show: ({ title }) => `Acknowledged: ${onOneLine(title)}`,
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
      { head: 'Options', cell: ({ options }) => options.join(' '), shrinks: true },
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
      client.escalations.decide({ escalationId: args[0]!, decision: args[1]!, note: options.note }),
    show: ({ decision, outcome }) => `Decided: ${onOneLine([decision, outcome].filter(Boolean).join('. '))}`,
  });
}

function evals(program: Command): void {
  const all = group(program, 'evals', 'Safety checks of orders, drafts and skills', WORK);
  defineList(all, {
    summary: 'List runs, the newest first',
    filters: [['--kind <kind>', 'only those of this kind'], TEAM],
    call: (client, query) => client.evals.list(query),
    columns: ['evalRunId', 'passed', 'score', 'name', 'createdAt'],
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
    show: checked,
  });
  defineCalls(all, [
    ['get <evalRunId>', 'Show a run with its findings', (client, id) => client.evals.get(id), checked],
  ]);
}

function checked({ evalRunId, name, score, threshold, passed, findings }: EvalRunView): string {
  return [
    styled(passed ? 'green' : 'red', `${passed ? 'Passed' : 'Failed'}: ${score} of at least ${threshold}`),
    ...findings.map(({ severity, path, message, suggestion }) =>
      styled(styleOf(severity) ?? 'dim', visible(`${severity}  ${path}: ${message} ${suggestion}`)),
    ),
    record({ run: evalRunId, name }),
  ].join('\n');
}
