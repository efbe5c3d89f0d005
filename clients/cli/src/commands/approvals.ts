import {
  APIError,
  type ApprovalDecided,
  type ApprovalSummary,
  type ApprovalView,
  type Consigliere,
  type EditBody,
} from '@consigliere/sdk';
import type { Command } from 'commander';
import {
  type Context,
  define,
  defineList,
  type Filters,
  group,
  jsonOf,
  readInput,
  TEAM,
} from '../command.js';
import { CliError, EXIT, UsageError } from '../errors.js';
import { type Columns, print, printLine, record, say, table, withProgress } from '../output.js';
import { decisionOn, preview } from '../preview.js';
import { askText, askYes } from '../prompts.js';
import { approve, edit, review } from '../review.js';
import { follow } from './feed.js';

const COLUMNS: Columns<ApprovalSummary> = [
  'approvalId',
  'risk',
  { head: 'From', cell: ({ agent, capo }) => agent?.name ?? capo, shrinks: true },
  {
    head: 'Title',
    cell: ({ title, status, ready }) => {
      const state = status === 'pending' ? (ready ? '' : 'drafting') : status;
      return state ? `(${state}) ${title}` : title;
    },
    shrinks: true,
  },
  'expiresAt',
];

export function approvals(program: Command): void {
  const all = group(program, 'approvals', 'Read and decide what waits for you', 'Every day:');
  defineList(all, {
    summary: 'List what waits, urgent and oldest first',
    filters: [
      ['--status <status>', 'those in this state instead: approved, rejected, expired, ...'],
      ['--capo <role>', 'only those of this capo'],
      TEAM,
      ['--urgent', 'only urgent ones'],
    ],
    call: (client, query) => client.approvals.list(query),
    columns: COLUMNS,
    empty: 'Nothing waits for you.',
    watch,
    examples: [
      'consigliere approvals list --urgent',
      "consigliere approvals list --json | jq -r '.[].approvalId'",
    ],
  });
  define(all, {
    usage: 'review',
    summary: 'Go through the queue with single keys: a approve, r reject, e edit, s skip, q quit',
    options: [['-w, --watch', 'wait for more when the queue is empty']],
    progress: null,
    async run({ client, options, isInteractive }: Context<{ watch?: boolean }>) {
      if (!isInteractive) {
        throw new UsageError(
          'Reviewing needs a terminal.',
          'In a script use `consigliere approvals list --json` and `consigliere approvals approve <approvalId> --hash <hash>`.',
        );
      }
      return review(client, { isWatching: options.watch === true });
    },
    show: ({ approved, rejected, skipped }) =>
      `${approved} approved, ${rejected} rejected, ${skipped} skipped.`,
  });
  define(all, {
    usage: 'show <approvalId>',
    summary: 'Show the whole draft, with its risk and its content hash',
    options: [['-w, --wait', 'wait until the draft is ready']],
    async run({ client, args, options }: Context<{ wait?: boolean }>) {
      return options.wait
        ? client.approvals.waitFor(args[0]!, { for: 'draft' })
        : client.approvals.get(args[0]!);
    },
    show: preview,
  });
  define(all, {
    usage: 'approve <approvalId>',
    summary: 'Approve what was read, and nothing else',
    options: [
      ['--hash <contentHash>', 'the content hash of what you read'],
      ['-y, --yes', 'approve it as it stands now, unseen'],
    ],
    examples: [
      'consigliere approvals approve apr_01khqw6q00tp9w1md2nw5hc13a',
      'HASH=$(consigliere approvals show apr_01... --json | jq -r .contentHash)',
      'consigliere approvals approve apr_01... --hash "$HASH"',
    ],
    progress: null,
    async run({ client, args, options, isInteractive }: Context<{ hash?: string; yes?: boolean }>) {
      const approvalId = args[0]!;
      const { hash } = options;
      if (hash)
        return decided(client, approvalId, () => client.approvals.approve(approvalId, { ifMatch: hash }));
      if (!options.yes && !isInteractive) {
        throw new UsageError(
          'Without a terminal, approving needs the hash of what was read.',
          'Add --hash <contentHash>, which `consigliere approvals show` prints, or --yes to approve it unseen.',
        );
      }
      const approval = await withProgress('Waiting for the draft', () =>
        client.approvals.waitFor(approvalId, { for: 'draft' }),
      );
      if (approval.question) {
        const answer = `consigliere questions answer ${approval.questionId} <name>=<value>`;
        throw new UsageError('This is a question, which is answered and not approved.', answer);
      }
      if (!options.yes && approval.status === 'pending') {
        say(preview(approval));
        if (!(await askYes('Approve exactly this?'))) return notDecided();
      }
      return decided(client, approvalId, () => approve(client, approval), approval);
    },
    json: ({ answer }) => answer,
    show: decisionText,
  });
  define(all, {
    usage: 'reject <approvalId>',
    summary: 'Reject it, with a reason',
    options: [
      ['-m, --feedback <text>', 'why; the requester reads it'],
      ['--revise', 'send it back for another draft'],
    ],
    examples: ['consigliere approvals reject apr_01... -m "Shorter, and to the point." --revise'],
    progress: null,
    async run({ client, args, options, isInteractive }: Context<{ feedback?: string; revise?: boolean }>) {
      let { feedback } = options;
      if (!feedback && !isInteractive) throw new UsageError('Say why with --feedback <text>.');
      feedback ||= await askText('Why?');
      const body = { feedback, revise: options.revise };
      return decided(client, args[0]!, () => client.approvals.reject(args[0]!, body));
    },
    json: ({ answer }) => answer,
    show: decisionText,
  });
  define(all, {
    usage: 'edit <approvalId>',
    summary: 'Change the draft in your editor; it still has to be approved',
    options: [
      ['--file <file>', 'send this edit as JSON instead; `-` reads standard input'],
      ['--hash <contentHash>', 'the content hash of what you read'],
    ],
    examples: [
      'EDITOR="code --wait" consigliere approvals edit apr_01...',
      `echo '{"params":{"amount":10}}' | consigliere approvals edit apr_01... --file - --hash "$HASH"`,
    ],
    progress: null,
    async run({ client, args, options, isInteractive }: Context<{ file?: string; hash?: string }>) {
      const approvalId = args[0]!;
      if (options.file) {
        const body = jsonOf(await readInput(options.file), options.file) as EditBody;
        if (!options.hash) throw new UsageError('--file needs --hash <contentHash> of what was read.');
        return client.approvals.edit(approvalId, body, { ifMatch: options.hash });
      }
      if (!isInteractive) throw new UsageError('Without a terminal, give the edit with --file and --hash.');
      const approval = await client.approvals.waitFor(approvalId, { for: 'draft' });
      return (await edit(client, approval)) ?? notDecided();
    },
    show: preview,
  });
}

function notDecided(): undefined {
  say('Nothing was changed.');
}

interface Decided {
  answer: ApprovalDecided;
  /** What was decided before, by whom and when: the same decision again changes nothing. */
  before: string | undefined;
}

/** Makes a decision, and says so where it was made before, or another was. */
async function decided(
  client: Consigliere,
  approvalId: string,
  decide: () => PromiseLike<ApprovalDecided>,
  known?: ApprovalView,
): Promise<Decided> {
  // Who asked for it may reject it even where they may not read it.
  const before = known ?? (await client.approvals.get(approvalId).catch(() => undefined));
  try {
    const answer = await decide();
    return { answer, before: before && alreadyDone(before, answer) };
  } catch (error) {
    if (!(error instanceof APIError) || error.code !== 'APPROVAL_ALREADY_DECIDED') throw error;
    const told = decisionOn(await client.approvals.get(approvalId));
    throw new CliError(`${error.message} ${told}`, EXIT.error, undefined, error.code, { cause: error });
  }
}

function alreadyDone(before: ApprovalView, { votes }: ApprovalDecided): string | undefined {
  if (before.status === 'pending')
    return before.votes.have === votes.have && votes.need > 1 ? 'You had approved it before.' : undefined;
  return decisionOn(before).replace('was', 'was already');
}

function decisionText({ answer, before }: Decided): string {
  const { approvalId, status, votes, directiveId, directiveStatus, receiptId, nextApprovalId } = answer;
  const facts = record({
    approval: approvalId,
    status,
    votes: votes.need > 1 ? `${votes.have} of ${votes.need}` : null,
    directive: directiveId && `${directiveId} (${directiveStatus})`,
    receipt: receiptId,
    next: nextApprovalId,
  });
  return before ? `${before} Nothing was changed.\n${facts}` : facts;
}

/** The queue, and then everything that joins it. */
async function watch({ client, options }: Context, query: Filters): Promise<undefined> {
  const seen = new Set<string>();
  const tell = async () => {
    const fresh = (await client.approvals.list({ ...query, limit: 100 }).toArray()).filter(
      ({ approvalId, ready }) => ready && !seen.has(approvalId),
    );
    for (const approval of fresh) {
      seen.add(approval.approvalId);
      if (options.json) printLine(approval);
    }
    if (!options.json && fresh.length > 0) print(table(fresh, COLUMNS));
  };
  // From before the queue was read, so that nothing falls between the two.
  const [newest] = (await client.feed.list({ limit: 1 })).items;
  await tell();
  for await (const { action } of follow(client, newest?.seq ?? 0)) {
    if (/^(approval|action|question)\./.test(action)) await tell();
  }
}
