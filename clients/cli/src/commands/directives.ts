import type { Consigliere, DirectiveBody, DirectiveView } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define, defineCalls, defineList, group, readInput, TEAM } from '../command.js';
import { EXIT, UsageError } from '../errors.js';
import { record, say, styled, visible, wrapped } from '../output.js';

const CAPOS = ['capo_marketing', 'capo_revenue', 'capo_ops', 'capo_product', 'ceo'] as const;

interface DirectiveOptions {
  wait?: boolean;
  timeout?: number;
  capo?: (typeof CAPOS)[number];
  priority?: DirectiveBody['priority'];
  deadline?: string;
  context?: DirectiveBody['context'];
  team?: string;
  approval: boolean;
}

export function directives(program: Command): void {
  define(program, {
    usage: 'directive <text>',
    summary: 'Hand in work; `-` reads the text from standard input',
    options: [
      ['-w, --wait', 'wait until it has ended, whatever people decide in between'],
      ['--timeout <seconds>', 'stop waiting after this long', { number: true }],
      ['--capo <role>', 'who does it; without it Consigliere chooses', { choices: CAPOS }],
      ['--priority <priority>', 'how urgent it is', { choices: ['high', 'medium', 'low'] }],
      ['--deadline <time>', 'when it must be sent: 2027-03-01T12:00:00+01:00'],
      ['--context <json>', 'values to use as they are: {"to": ..., "subject": ...}', { json: true }],
      ['--team <teamId>', 'the team that it belongs to'],
      ['--no-approval', 'let standing orders decide without a person; needs --capo'],
    ],
    examples: [
      `consigliere directive 'Email jane@acme.example, subject "Your order": It ships on Friday.'`,
      'consigliere directive "Plan the spring post" --capo capo_marketing --wait',
      'consigliere directive - --json < task.txt | jq -r .approvalId',
    ],
    progress: null,
    async run({ client, args, options }: Context<DirectiveOptions>) {
      const text = args[0] === '-' ? (await readInput('-')).trim() : args[0]!;
      const { capo, priority, deadline, team: teamId, context } = options;
      const shared = { capo, priority, deadline, teamId, context };
      if (!options.approval && !capo) throw new UsageError('--no-approval needs --capo: name who does it.');
      const { directiveId } =
        options.approval || !capo
          ? await client.directives.queue({ ...shared, text })
          : await client.directives.create({ ...shared, capo, directive: text, requiresApproval: false });
      if (!options.wait) return client.directives.get(directiveId);
      say(`Handed in: ${directiveId}`);
      return ended(client, directiveId, options.timeout);
    },
    show: (directive, { options }) => {
      const { directiveId, approvalId, status } = directive;
      if (options.wait) return shown(directive);
      if (approvalId && status === 'pending_approval')
        say(`Read and decide it: consigliere approvals show ${approvalId}`);
      return record({ directive: directiveId, status, approval: approvalId });
    },
  }).helpGroup('Every day:');

  const all = group(program, 'directives', 'Read, cancel and retry directives', 'Every day:');
  defineList(all, {
    summary: 'List directives, the newest first',
    filters: [
      ['--status <status>', 'only those in this state'],
      ['--capo <role>', 'only those of this capo', { choices: CAPOS }],
      TEAM,
    ],
    call: (client, query) => client.directives.list(query),
    columns: ['directiveId', 'status', 'title', 'createdAt'],
    empty: 'No directives.',
  });
  defineCalls(all, [
    [
      'get <directiveId>',
      'Show a directive with its output',
      (client, id) => client.directives.get(id),
      shown,
    ],
    [
      'cancel <directiveId>',
      'Cancel it before it is sent',
      (client, id) => client.directives.cancel(id),
      shown,
    ],
    ['retry <directiveId>', 'Try a failed one again', (client, id) => client.directives.retry(id), shown],
  ]);
}

/** The directive once it has ended, or as it stands when the time is over. Says on standard error what it waits for. */
async function ended(client: Consigliere, directiveId: string, seconds = Infinity): Promise<DirectiveView> {
  const timeout = seconds * 1_000;
  const until = performance.now() + timeout;
  const directive = await client.directives.waitFor(directiveId, {
    timeout,
    onChange: ({ status, approvalId }) => {
      const isWaiting = status === 'pending_approval' && approvalId;
      say(isWaiting ? `Waiting for a decision: consigliere approvals show ${approvalId}` : status);
    },
  });
  if (performance.now() >= until) say(`Waited ${seconds} s: it is ${directive.status}.`);
  process.exitCode = exitCodeOf(directive);
  return directive;
}

function exitCodeOf({ status, error }: DirectiveView): number {
  if (status === 'executed') return EXIT.ok;
  const isRefused = status === 'rejected' || status === 'halted' || error?.code === 'POLICY_DENIED';
  return isRefused ? EXIT.refused : EXIT.error;
}

function shown(directive: DirectiveView): string {
  const { directiveId, status, capo, priority, deadline, approvalId, error, output, cost } = directive;
  const { createdBy, createdAt, executedAt } = directive;
  const lines = [
    styled('bold', visible(directive.directive)),
    record({
      ...{ directive: directiveId, status, capo, priority, deadline, approval: approvalId },
      error: error && [error.message, error.nextStep].filter(Boolean).join(' '),
      cost: cost.amount > 0 ? `${cost.amount} ${cost.currency}` : null,
      ...{ createdBy, createdAt, executedAt },
    }),
  ];
  if (output) lines.push('', visible(output.summary), '', wrapped(output.body, '  '));
  return lines.join('\n');
}
