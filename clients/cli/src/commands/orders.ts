import type {
  CreateStandingOrderBody,
  InstallSkillPackBody,
  NewStandingOrderView,
  SimulationView,
  SkillPackView,
} from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define, defineCalls, defineList, group, jsonOf, readInput } from '../command.js';
import { EXIT, UsageError } from '../errors.js';
import { record, styled, table, visible, withProgress } from '../output.js';

const POLICY = 'Policy and agents:';

export function orders(program: Command): void {
  const all = group(program, 'orders', 'Standing orders: what may leave without a person', POLICY);
  defineList(all, {
    summary: 'List standing orders',
    filters: [['--status <status>', 'draft, shadow, paused, archived, or all; active without it']],
    call: (client, query) => client.standingOrders.list(query),
    columns: ['standingOrderId', 'status', 'effect', 'name', 'updatedAt'],
    empty: 'No standing orders: everything asks.',
  });
  define(all, {
    usage: 'add <name>',
    summary: 'Make a standing order; it is checked, simulated and, if it is safe, active',
    options: [
      [
        '--effect <effect>',
        'what happens to a match',
        { choices: ['allow', 'require_approval', 'deny', 'throttle'] },
      ],
      ['--action <type>', 'an action type or tool: email.send, crm.*; repeat for more', { repeats: true }],
      ['--capo <role>', 'only for this capo; repeat for more', { repeats: true }],
      ['--agent <name>', 'only for this agent; repeat for more', { repeats: true }],
      ['--where <json>', 'conditions on fields: {"params.amount": {"$lte": 500}}', { json: true }],
      ['--max-per-hour <n>', 'at most this many an hour', { number: true }],
      ['--max-per-day <n>', 'at most this many a day', { number: true }],
      ['--text <text>', 'why, in a sentence'],
      ['--file <file>', 'the whole order as JSON instead; `-` reads standard input'],
    ],
    examples: [
      'consigliere orders add "No mail to evil.example" --effect deny --action email.send --where \'{"params.to": {"$domainIn": ["evil.example"]}}\'',
      'consigliere orders add "File documents" --effect allow --action document.file --max-per-day 50',
    ],
    progress: 'Checking and simulating',
    async run({ client, args, options }: Context<AddOptions>) {
      const name = args[0]!;
      const { effect, action, capo, agent, where, maxPerHour, maxPerDay, text, file } = options;
      if (file) {
        const given = jsonOf(await readInput(file), file) as Partial<CreateStandingOrderBody>;
        return client.standingOrders.create({ name, ...given } as CreateStandingOrderBody);
      }
      if (!effect) throw new UsageError('Give --effect, or the whole order with --file.');
      const match = { actionTypes: action, agents: agent, fields: where };
      const limits = (maxPerHour ?? maxPerDay) ? { maxPerHour, maxPerDay } : undefined;
      return client.standingOrders.create({ name, effect, text, capos: capo, match, limits });
    },
    show: shown,
  });
  define(all, {
    usage: 'simulate <standingOrderId>',
    summary: 'Replay what was decided so far as if it were active',
    progress: 'Simulating',
    run: async ({ client, args }) => client.standingOrders.simulate(args[0]!),
    show: simulated,
  });
  define(all, {
    usage: 'activate <standingOrderId>',
    summary: 'Activate it after its check and simulation',
    options: [
      ['--shadow', 'only record what it would decide'],
      ['--acknowledge', 'as an owner, confirm that it lets irreversible actions through'],
    ],
    progress: 'Checking and simulating',
    run: async ({ client, args, options }: Context<{ shadow?: boolean; acknowledge?: boolean }>) => {
      const { shadow, acknowledge } = options;
      return client.standingOrders.activate(args[0]!, { shadow, acknowledge });
    },
    show: shown,
  });
  defineCalls(all, [
    ['get <standingOrderId>', 'Show a whole order', (client, id) => client.standingOrders.get(id)],
    [
      'pause <standingOrderId>',
      'Pause it: it decides nothing until it is activated',
      (client, id) => client.standingOrders.pause(id),
      shown,
    ],
    [
      'archive <standingOrderId>',
      'End it for good',
      (client, id) => client.standingOrders.archive(id),
      shown,
    ],
  ]);
  packs(program);
}

function packs(program: Command): void {
  const all = group(program, 'packs', 'Skill packs: what capos have learnt, with the orders for it', POLICY);
  defineList(all, {
    summary: 'List skill packs, the newest first',
    call: (client, query) => client.skillPacks.list(query),
    columns: ['packId', 'status', 'name', 'version', 'publisher'],
    empty: 'No skill packs.',
  });
  define(all, {
    usage: 'install <file>',
    summary: 'Install a signed pack, or a later version of it; ends when all of it has arrived',
    examples: ['consigliere packs install examples/packs/invoice-reminders.json'],
    progress: null,
    async run({ client, args }) {
      const body = jsonOf(await readInput(args[0]!), args[0]!) as InstallSkillPackBody;
      return withProgress('Installing', async (tell) => {
        let found = await client.skillPacks.install(body);
        for (; found.status === 'installing'; found = await client.skillPacks.get(found.packId)) {
          tell(`${found.progress.done} of ${found.progress.total}`);
          await new Promise((resolve) => setTimeout(resolve, 1_000));
        }
        if (found.status !== 'installed') process.exitCode = EXIT.error;
        return found;
      });
    },
    show: pack,
  });
  defineCalls(all, [
    [
      'get <packId>',
      'Show a pack with its skills and orders',
      (client, id) => client.skillPacks.get(id),
      pack,
    ],
    [
      'remove <packId>',
      'Remove it with its skills and drafts',
      (client, id) => client.skillPacks.uninstall(id),
      'is removed.',
    ],
  ]);
}

function pack({ packId, version, publisher, status, reason, ...found }: SkillPackView): string {
  const name = `${found.name} ${version} of ${publisher}`;
  const skills = found.skills.map((skill) => skill.name);
  const arrived = found.standingOrders.map((order) => `${order.key} (${order.status})`);
  return record({ pack: packId, name, status, reason, skills, orders: arrived });
}

interface AddOptions {
  effect?: CreateStandingOrderBody['effect'];
  action?: string[];
  capo?: CreateStandingOrderBody['capos'];
  agent?: string[];
  where?: NonNullable<CreateStandingOrderBody['match']>['fields'];
  maxPerHour?: number;
  maxPerDay?: number;
  text?: string;
  file?: string;
}

function shown(order: Omit<NewStandingOrderView, 'listedAt'>): string {
  const { standingOrderId, name, status, effect, version, heldBecause, simulation, warnings = [] } = order;
  const changes =
    simulation &&
    `${simulation.considered} replayed: ${simulation.relaxed} would no longer ask, ${simulation.escalated} newly would`;
  return [
    record({ order: standingOrderId, name, status, effect, version, heldBecause, simulation: changes }),
    ...warnings.map((warning) => styled('yellow', visible(`! ${warning}`))),
  ].join('\n');
}

type Change = SimulationView['changes'][number];

function simulated(simulation: SimulationView): string {
  const { considered, relaxed, stillAsks, escalated, unchanged, relaxedIrreversible } = simulation;
  const lines = [
    `${considered} decisions replayed: ${unchanged} unchanged, ${relaxed} relaxed (${relaxedIrreversible} irreversible), ${escalated} tightened; ${stillAsks} still ask.`,
  ];
  if (simulation.changes.length > 0) {
    const what = { head: 'What', cell: ({ title, tool }: Change) => title ?? tool, shrinks: true };
    lines.push(table<Change>(simulation.changes, ['from', 'to', what, 'recipient', 'why']));
  }
  if (simulation.changesOmitted > 0) lines.push(`And ${simulation.changesOmitted} more.`);
  return lines.join('\n');
}
