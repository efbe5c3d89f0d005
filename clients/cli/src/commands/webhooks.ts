import {
  type Consigliere,
  ConsigliereError,
  type DestinationView,
  type FeedEvent,
  webhooks as signatures,
} from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define, defineCalls, defineList, group, type OptionRow } from '../command.js';
import { EXIT, UsageError } from '../errors.js';
import { print, printLine, record, say, styled, table, time, visible } from '../output.js';
import { urlOf, webhookSecret } from '../session.js';
import { follow } from './feed.js';

type EventName = DestinationView['events'][number];

type Payload = Record<string, unknown>;

interface Forwarding {
  forwardTo: string;
  events?: string[];
}

const FORWARD: OptionRow = ['--forward-to <url>', 'such as http://127.0.0.1:4000/hooks', { required: true }];

export function webhooks(program: Command): void {
  const all = group(program, 'webhooks', 'Send events to a receiver, on this machine too', 'Set-up:');
  defineList(all, {
    summary: 'List destinations',
    call: (client, query) => client.webhooks.list(query),
    columns: [
      'destinationId',
      'status',
      'url',
      { head: 'Events', cell: ({ events }) => events.length },
      'lastDeliveryAt',
    ],
    empty: 'No destinations.',
  });
  define(all, {
    usage: 'listen',
    summary: 'Send events to an address on this machine as they happen, without a public address',
    options: [FORWARD, ['--events <names...>', 'only these']],
    examples: [
      'consigliere webhooks listen --forward-to http://127.0.0.1:4000/hooks',
      'consigliere webhooks listen --forward-to http://127.0.0.1:4000/hooks --events directive.executed kill.activated',
    ],
    progress: null,
    run: listen,
  });
  define(all, {
    usage: 'trigger <event>',
    summary: 'Send one event with sample values, signed as the service signs',
    options: [FORWARD],
    choices: { event: Object.keys(FIELDS) },
    examples: ['consigliere webhooks trigger approval.requested --forward-to http://127.0.0.1:4000/hooks'],
    progress: null,
    async run({ args, options }: Context<Forwarding>) {
      const event = args[0] as EventName;
      const receiptHead = { seq: 41, hash: '8c'.repeat(32) };
      const payload = payloadWith(event, { ...SAMPLE, ...SAMPLES[event] }, receiptHead);
      const about = { id: 'evt_sample', event, timestamp: Date.now(), workspaceId: 'wks_sample' };
      const { status } = await forward(options, { ...about, payload });
      if (status === null || status >= 300) process.exitCode = EXIT.error;
    },
  });
  define(all, {
    usage: 'deliveries <destinationId>',
    summary: 'List what was sent to a destination, the newest first',
    run: async ({ client, args }) => (await client.deliveries.list(args[0]!)).items,
    show: (found) =>
      table(found, [
        'deliveryId',
        'status',
        'event',
        { head: 'Answer', cell: ({ attempts }) => attempts.at(-1)?.status ?? attempts.at(-1)?.error },
        'nextAttemptAt',
      ]),
  });
  defineCalls(all, [
    [
      'resend <deliveryId>',
      'Resend it, or try it now while it is still tried by itself',
      (client, id) => client.deliveries.redeliver(id),
      'is on its way.',
    ],
    ['test <destinationId>', 'Send a test', (client, id) => client.webhooks.test(id), 'gets a test event.'],
    ['resume <destinationId>', 'Resume it', (client, id) => client.webhooks.resume(id), 'is active again.'],
    ['delete <destinationId>', 'Delete it', (client, id) => client.webhooks.delete(id), 'is deleted.'],
  ]);
  define(all, {
    usage: 'add <url>',
    summary: 'Register a destination; its secret is shown once',
    options: [
      ['--events <names...>', 'only these'],
      ['--description <text>', 'what it is for'],
    ],
    run: async ({
      client,
      args: [url = ''],
      options,
    }: Context<{ events?: EventName[]; description?: string }>) => {
      const { events, description = url } = options;
      return client.webhooks.createWithNewSecret({ url, description, events });
    },
    show: ({ destinationId, status, events, secret }) =>
      record({ destination: destinationId, status, events, secret }),
  });
}

async function listen({ client, options }: Context<Forwarding & { json?: boolean }>): Promise<void> {
  for (const name of options.events ?? [])
    if (!Object.hasOwn(FIELDS, name))
      throw new UsageError(`There is no event ${name}.`, `Events: ${Object.keys(FIELDS).join(', ')}`);
  const { workspace } = await client.bootstrap.get();
  const [newest] = (await client.feed.list({ limit: 1 })).items;
  const secret = webhookSecret();
  say(
    `Listening to ${visible(workspace.name)}. Your receiver verifies with the secret ${secret} (always the same here). Ctrl-C ends.`,
  );
  for await (const entry of follow(client, newest?.seq ?? 0)) {
    const event = eventOf(entry);
    if (!event || (options.events && !options.events.includes(event))) continue;
    let payload: Payload | undefined;
    try {
      payload = await payloadOf(client, event, entry);
    } catch (error) {
      // One entry that cannot be read is no reason to miss the next.
      if (!(error instanceof ConsigliereError)) throw error;
      say(`${event} is left out: ${error.message}`);
    }
    if (!payload) continue;
    const { workspaceId } = workspace;
    await forward(options, { id: `evt_${entry.seq}`, event, timestamp: entry.at, workspaceId, payload });
  }
}

interface Sent {
  id: string;
  event: string;
  timestamp: number;
  workspaceId: string;
  payload: Payload;
}

/** Posts the event as the service would, and tells in two lines what was sent and what came back. */
async function forward(
  { forwardTo, json }: Forwarding & { json?: boolean },
  { id, ...body }: Sent,
): Promise<{ status: number | null }> {
  const url = urlOf(forwardTo);
  const raw = JSON.stringify(body);
  const headers = await signatures.sign(raw, webhookSecret(), { id });
  if (!json) print(`${styled('dim', time(Date.now()))}  --> ${styled('bold', body.event)} [${id}]`);
  const began = performance.now();
  let status: number | null = null;
  let error: string | undefined;
  try {
    const answer = await fetch(url, {
      method: 'POST',
      body: raw,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    });
    await answer.body?.cancel();
    ({ status } = answer);
  } catch (thrown) {
    if (thrown instanceof TypeError && !URL.canParse(forwardTo))
      throw new UsageError(`${forwardTo} is no address.`);
    const { cause = thrown } = thrown as { cause?: { code?: string; message?: string } };
    error = (cause as { code?: string }).code ?? (cause as Error).message;
  }
  const took = Math.round(performance.now() - began);
  if (json) printLine({ id, ...body, forwardedTo: forwardTo, status, error, milliseconds: took });
  else {
    const shown = styled(status !== null && status < 300 ? 'green' : 'red', `[${status ?? error}]`);
    print(`${styled('dim', time(Date.now()))}  <-- ${shown} POST ${forwardTo} [${took} ms]`);
  }
  return { status };
}

/** The event that this entry of the feed tells of, if any. */
function eventOf({ action, outcome }: FeedEvent): EventName | undefined {
  if (/^approval\.(approved|rejected|revised|changes_requested|expired|cancelled|answered)$/.test(action))
    return 'approval.decided';
  if (/^action\.(completed|failed)$/.test(action)) return 'action.completed';
  const known: Record<string, EventName> = {
    'directive.created': 'directive.created',
    'directive.executed': 'directive.executed',
    'directive.failed': 'directive.executed',
    'approval.ready': 'approval.requested',
    'approval.requested': 'approval.requested',
    'guardian.killed': 'kill.activated',
    'revenue.recorded': 'revenue.recorded',
    'skill_pack.installed': 'pack.installed',
    'skill_pack.uninstalled': 'pack.revoked',
    'skill_pack.revoked': 'pack.revoked',
    'report.generated': 'report.daily',
  };
  return outcome === 'denied' ? undefined : known[action];
}

/** What the event would say: the fields of its sample, read from the receipt and from the record that it is about. */
async function payloadOf(
  client: Consigliere,
  event: EventName,
  entry: FeedEvent,
): Promise<Payload | undefined> {
  const { seq, action } = entry;
  const [receipt] = (await client.auditFeed.list({ before: seq + 1, limit: 1 })).items;
  if (receipt?.seq !== seq) return undefined;
  const { receiptId, hash, details, summary, guardianEpoch } = receipt;
  // That a draft is ready is told of its directive.
  const { approvalId } = details as { approvalId?: string };
  const isReady = action === 'approval.ready' && approvalId !== undefined;
  const entity = isReady ? { type: 'approval', id: approvalId } : entry.entity;
  const known: Payload = {
    ...details,
    summary,
    receiptId,
    epoch: guardianEpoch,
    ...(await recordOf(client, entity)),
    ...(event === 'directive.executed' && { status: action === 'directive.failed' ? 'failed' : 'executed' }),
  };
  // A directive's approval is asked for before there is a draft, and the first of several votes decides nothing yet.
  if (action === 'approval.requested' && known['directiveId'] !== null) return undefined;
  if (event === 'approval.decided' && known['status'] === 'pending') return undefined;
  return payloadWith(event, known, { seq, hash });
}

async function recordOf(client: Consigliere, { type, id }: FeedEvent['entity']): Promise<Payload> {
  switch (type) {
    case 'directive': {
      const directive = await client.directives.get(id);
      return { ...directive, text: directive.directive };
    }
    case 'approval': {
      const approval = await client.approvals.get(id);
      const { directiveId, actionRequestId, questionId, kind, status } = approval;
      const answered = kind === 'question' && status === 'approved' ? 'answered' : status;
      const decision = status === 'changes_requested' ? 'changed' : answered;
      const entityId = directiveId ?? actionRequestId ?? questionId;
      const tool = kind === 'action' ? approval.packets[0]?.action.type : null;
      return { ...approval, entityId, tool, decision, url: `${client.baseUrl}/approvals/${id}` };
    }
    case 'action_request': {
      const request = await client.actions.get(id);
      return { ...request, outcome: request.result?.outcome };
    }
    default:
      return { eventId: id, packId: id, reportId: id, url: client.baseUrl };
  }
}

/** What the payload of each event says (docs/webhooks.md). */
const FIELDS: Record<EventName, string> = {
  'directive.created': 'directiveId text capo priority requiresApproval',
  'directive.executed': 'directiveId status summary receiptId',
  'approval.requested':
    'approvalId directiveId actionRequestId questionId title risk reversibility expiresAt url',
  'approval.decided':
    'approvalId kind entityId title tool agent decision status contentHash decidedBy decidedAt feedback receiptId',
  'action.completed': 'actionRequestId tool paramsHash agent outcome receiptId',
  'kill.activated': 'reason epoch halted',
  'revenue.recorded': 'eventId amount currency source',
  'pack.installed': 'packId version',
  'pack.revoked': 'packId version reason',
  'report.daily': 'reportId date headline url',
};

/** What `trigger` sends in these fields; null in those that are not here. */
const SAMPLE: Payload = {
  ...{ directiveId: 'dir_sample', capo: 'capo_ops', priority: 'medium', requiresApproval: true },
  text: 'Email jane@acme.example: "It ships on Friday."',
  ...{ status: 'approved', summary: 'A mail was sent.', receiptId: 'rcp_sample' },
  ...{ approvalId: 'apr_sample', title: 'Email jane@acme.example', expiresAt: 1_767_484_800_000 },
  ...{ risk: 'medium', reversibility: 'irreversible', url: 'http://127.0.0.1:3000/approvals/apr_sample' },
  ...{ kind: 'output', entityId: 'dir_sample', decision: 'approved', contentHash: '9d'.repeat(32) },
  decidedBy: { type: 'member', id: 'mem_sample', name: 'Mira Novak', via: 'api' },
  decidedAt: 1_767_225_600_100,
  ...{ paramsHash: '4f'.repeat(32), outcome: 'succeeded' },
  ...{ reason: 'Wrong price list', epoch: 1, halted: { queued: 0, executing: 0, sending: 0, voided: 0 } },
  ...{ eventId: 'rev_sample', amount: 1200, currency: 'EUR', source: 'shop' },
  ...{ packId: 'pck_sample', version: '1.0.0' },
  ...{ reportId: 'rpt_sample', date: '2026-11-22', headline: 'A quiet day.' },
};
/** Where an event says something else in one of them. */
const SAMPLES: Partial<Record<EventName, Payload>> = {
  'directive.executed': { status: 'executed' },
  'action.completed': {
    actionRequestId: 'act_sample',
    tool: 'stripe.refund',
    agent: { tokenId: 'tok_sample', name: 'billing' },
  },
  'pack.revoked': { reason: 'uninstalled' },
  'report.daily': { url: 'http://127.0.0.1:3000/app' },
};

/** The fields of an event, of what is known. */
function payloadWith(event: EventName, known: Payload, receiptHead: object): Payload {
  const fields = FIELDS[event].split(' ').map((name) => [name, known[name] ?? null]);
  return { ...(Object.fromEntries(fields) as Payload), receiptHead };
}
