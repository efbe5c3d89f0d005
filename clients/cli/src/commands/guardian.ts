import type { GuardianView, KillAnswer, PreflightBody, PreflightView, RevertAnswer } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define, defineList, group } from '../command.js';
import { UsageError } from '../errors.js';
import { record, say, styled, styleOf, table, visible, when } from '../output.js';
import { askText } from '../prompts.js';

export function guardian(program: Command): void {
  const all = group(
    program,
    'guardian',
    'Stop everything, go on again, and see what would be decided',
    'Every day:',
  );
  define(all, {
    usage: 'status',
    summary: 'Show the mode, and why it is as it is',
    run: async ({ client }) => client.guardian.get(),
    show: shown,
  });
  define(all, {
    usage: 'kill',
    summary: 'Halt everything that was not sent yet; asks to type HALT',
    options: [
      ['-y, --yes', 'without asking, for scripts'],
      ['--reason <text>', 'why; members are told'],
    ],
    examples: ['consigliere guardian kill --reason "Wrong price list"', 'consigliere guardian kill --yes'],
    progress: null,
    async run({ client, options, isInteractive }: Context<{ yes?: boolean; reason?: string }>) {
      if (!options.yes) {
        if (!isInteractive) {
          throw new UsageError(
            'There is no terminal to confirm at. Nothing was halted.',
            'In a script: consigliere guardian kill --yes',
          );
        }
        const typed = await askText('Type HALT to stop everything');
        if (typed.trim() !== 'HALT') throw new UsageError(`That was not HALT. Nothing was halted.`);
      }
      return client.guardian.kill({ reason: options.reason });
    },
    show: killed,
  });
  define(all, {
    usage: 'revert',
    summary: 'End the halt; halted work goes on',
    options: [
      [
        '--mode <mode>',
        'resume; restore orders and settings of a checkpoint; compensate what was sent since',
        { choices: ['resume', 'restore', 'compensate'], default: 'resume' },
      ],
      ['--checkpoint <checkpointId>', 'the checkpoint to go back to'],
      ['--epoch <n>', 'the epoch that you have seen: after another kill nothing is done', { number: true }],
      ['--reason <text>', 'why'],
      ['--dry-run', 'only show what would be done'],
    ],
    async run({ client, options }: Context<RevertOptions>) {
      const { mode, checkpoint: checkpointId, epoch, reason, dryRun } = options;
      return client.guardian.revert({ mode, checkpointId, epoch, reason, dryRun });
    },
    show: reverted,
  });
  define(all, {
    usage: 'mode <mode>',
    summary: 'Set how much is decided without a person',
    choices: { mode: ['observe', 'supervised', 'guardrailed', 'autonomous'] },
    run: async ({ client, args }) => client.guardian.setMode({ mode: args[0] as 'observe' }),
    show: shown,
  });
  define(all, {
    usage: 'checkpoint [label]',
    summary: 'Record how orders and settings stand now',
    run: async ({ client, args }) => client.checkpoints.create({ label: args[0] }),
    show: ({ checkpointId, label, createdAt, receiptSeq, hash }) =>
      record({ checkpoint: checkpointId, label, createdAt, receiptSeq, hash }),
  });
  defineList(all, {
    usage: 'checkpoints',
    summary: 'List the checkpoints, the newest first',
    call: (client, query) => client.checkpoints.list(query),
    columns: ['checkpointId', 'label', 'createdBy', 'createdAt'],
    empty: 'No checkpoints.',
  });
  define(all, {
    usage: 'preflight [text]',
    summary: 'Show what would be decided, and why; nothing is changed',
    options: [
      ['--capo <role>', 'who would do it'],
      ['--action <type>', 'one action instead of a directive: email.send'],
      ['--tool <name>', 'a call of a tool instead, as an agent would ask for it'],
      ['--params <json>', 'the parameters of the action or call', { json: true }],
      ['--context <json>', 'the context of the directive', { json: true }],
    ],
    examples: [
      `consigliere guardian preflight 'Email jane@acme.example: "It ships on Friday."'`,
      `consigliere guardian preflight --tool payments.refund --params '{"amount": 1000}'`,
    ],
    async run({ client, args, options }: Context<PreflightOptions>) {
      const { action: type, tool, params = {}, capo, context } = options;
      const action = (type ?? tool) ? { type, tool, params } : undefined;
      if (!args[0] && !action) throw new UsageError('Give a text, --action or --tool.');
      return client.guardian.preflight({ directive: args[0], action, capo, context });
    },
    show: foreseen,
  });
}

interface RevertOptions {
  mode: 'resume' | 'restore' | 'compensate';
  checkpoint?: string;
  epoch?: number;
  reason?: string;
  dryRun?: boolean;
}

interface PreflightOptions {
  action?: string;
  tool?: string;
  params?: Record<string, unknown>;
  capo?: PreflightBody['capo'];
  context?: PreflightBody['context'];
}

function shown(state: GuardianView): string {
  const { mode, killedAt, killedBy, reason, pending, blocked24h, epoch, lastCheckpointId } = state;
  if (mode === 'killed')
    say(`Everything is halted. Go on with: consigliere guardian revert --epoch ${epoch}`);
  const counts = { waiting: pending, blockedIn24h: blocked24h, epoch, lastCheckpoint: lastCheckpointId };
  return record({ mode, killedAt, killedBy, reason, ...counts });
}

function killed({ changed, killedAt, epoch, halted, unconfirmed, receiptId }: KillAnswer): string {
  const { queued, executing, sending, voided } = halted;
  const lines = [
    styled(['red', 'bold'], changed ? 'Everything is halted.' : 'Everything was halted already.'),
    record({
      killedAt,
      epoch,
      halted: `${queued} queued, ${executing} executing, ${sending} sending; ${voided} permissions of agents void`,
      receipt: receiptId,
    }),
  ];
  if (unconfirmed.length > 0) {
    lines.push(styled('yellow', 'These had begun, and may have left:'));
    for (const { workPacketId, actionRequestId, since } of unconfirmed)
      lines.push(`  ${workPacketId ?? actionRequestId} since ${when(since)}`);
  }
  return lines.join('\n');
}

function reverted({ revertId, mode, status, plan, planTotal, receiptId, restored }: RevertAnswer): string {
  const lines = [record({ revert: revertId, mode, status, steps: planTotal, receipt: receiptId })];
  if (restored) {
    const names = restored.orders.map(({ name, outcome }) => `${name} (${outcome})`);
    lines.push(record({ modeAfter: restored.mode, orders: names, settings: restored.settings }));
  }
  if (plan.length > 0) lines.push(table(plan, ['workPacketId', 'status', 'title', 'reason']));
  return lines.join('\n');
}

function foreseen(view: PreflightView): string {
  const { outcome, explanation, route, packets, matched, warnings } = view;
  const orders = matched.map(({ standingOrderId, effect }) => `${standingOrderId} (${effect})`);
  const lines = [
    styled(styleOf(outcome) ?? 'bold', outcome.replaceAll('_', ' ')),
    ...explanation.map((sentence) => `· ${visible(sentence)}`),
    record({ mode: view.guardian.mode, capo: route?.capo, route: route?.reason, orders }),
  ];
  if (packets.length > 0) lines.push(table(packets, ['type', 'outcome', 'reversibility', 'title']));
  for (const warning of warnings) lines.push(styled('yellow', `! ${visible(warning)}`));
  return lines.join('\n');
}
