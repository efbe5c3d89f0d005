import { momentIn } from '../../platform/kernel/local-day.js';
import { counted, money } from '../../platform/kernel/text.js';
import { withoutUnseen } from '../../platform/kernel/unseen.js';
import { firstPending, soonAfter } from '../approvals/index.js';
import { MOST_URGENT_ESCALATIONS } from '../escalations/index.js';
import { quoted } from './reply-text.js';
import { FEW, isWork, WORK, type WorkRow, workText } from './found-work.js';

/** The questions that are answered from the database, with a model and without. */

export type TopicName =
  | ('waiting' | 'failed' | 'sent' | 'mail' | 'approved' | 'agent' | 'decision')
  | ('guardian' | 'revenue' | 'cost' | 'signals' | 'standing_orders');

interface Topic<Row extends object = object> {
  /** The question as it can be typed. */
  example: string;
  /** The question as a member may put it, all of it, as a pattern; the group `about` is what it is about. */
  words: string;
  /** What `about` is, for a model; left out: the topic takes none. */
  takes?: string;
  /** $1 is the workspace. Row-level security narrows it to what the member may see. */
  statement: string;
  /** From $2 on. */
  values?(about: string, now: Date): readonly unknown[];
  /** In this zone. */
  tell(rows: readonly Row[], asked: { about: string | null; zone: string }): string;
}

type Question = Pick<Topic, 'example' | 'words'>;
const topic = <Row extends object>(declared: Topic<Row>): Topic => declared;

const PERIODS = ['today', 'yesterday', 'this week', 'last week', 'this month', 'last month'];
const WHEN = `(?: (?<about>${PERIODS.join('|')}))?`;
const TAKES_PERIOD = `one of ${PERIODS.join(', ')}`;
const periodIn = (about: string | null) => PERIODS.find((period) => period === about?.toLowerCase());

/** Periods of the calendar in the workspace's zone, as they are at the time $2; those that are not over have no end. */
const CALENDAR = /* sql */ `
zone as (select app.workspace_zone($1) as name),
starts as (select name, app.window_start('day', $2::timestamptz, name) as today,
  app.window_start('week', $2::timestamptz, name) as week, app.window_start('month', $2::timestamptz, name) as month from zone),
calendar as (select p.* from (
  select *, app.window_start('day', today - interval '1 hour', name) as yesterday,
    app.window_start('week', week - interval '1 hour', name) as last_week,
    app.window_start('month', month - interval '1 hour', name) as last_month from starts) s
  cross join lateral (values ('today', today, null::timestamptz), ('yesterday', yesterday, today), ('this week', week, null),
    ('last week', last_week, week), ('this month', month, null), ('last month', last_month, month)) p (period, begins, ends))`;

/** A record in a list; `state` is in our words, and ends with what `at` is. */
interface Line {
  recordId: string;
  title: string;
  state: string;
  at: number | null;
  /** How many there are. */
  inAll?: number;
}

const lines = (rows: readonly Line[], zone: string) =>
  rows
    .slice(0, FEW)
    .map(
      ({ recordId, title, state, at }) =>
        `- ${recordId}: ${quoted(title, 300)}, ${state}${at === null ? '' : ` ${momentIn(at, zone)}`}`,
    );

const list = (none: string, noun: string, declared: Omit<Topic, 'tell'>) =>
  topic<Line>({
    ...declared,
    tell(rows, { zone }) {
      const inAll = rows.reduce((most, row) => Math.max(most, row.inAll ?? 0), rows.length);
      const shown = inAll > FEW ? `, of which these are ${FEW}` : '';
      return rows.length === 0 ? none : [`${counted(inAll, noun)}${shown}:`, ...lines(rows, zone)].join('\n');
    },
  });

const SENT = {
  actions: 'packet.executed packet.partly_executed packet.confirmed action.completed action.confirmed',
  where: `(action like 'action.%' or exists (select from work_packets p
      where p.workspace_id = $1 and p.work_packet_id = entity_id and p.kind in ('message', 'call')))`,
};
/** A mail that did not reach everybody is told of by the escalation that offers nothing but to know it. */
const FAILED = {
  actions: `packet.failed packet.denied directive.failed escalation.opened
    action.failed action.denied action.unconfirmed action.not_done`,
  where: `(action <> 'escalation.opened' or body::jsonb->'details' @> '{"about":{"type":"work_packet"}}' and body::jsonb#>'{details,options}' = '["dismiss"]')
    and (action <> 'action.unconfirmed' or exists (select from action_requests where workspace_id = $1 and action_request_id = entity_id and status = 'unconfirmed'))`,
};
/** The newest receipts of these in a period. */
const receiptsOf = (what: string, { actions, where }: typeof SENT, declared: Question) =>
  topic<Line>({
    ...declared,
    takes: TAKES_PERIOD,
    statement: /* sql */ `
with ${CALENDAR}
select r.entity_id as record_id, r.body::jsonb->>'summary' as title, 'on' as state, r.at
from calendar c cross join unnest($3::text[]) a (action) cross join lateral (
  select seq, at, entity_id, body from receipts
  where workspace_id = $1 and action = a.action
    and seq between app.first_seq_from($1, c.begins) and app.last_seq_to($1, coalesce(c.ends, 'infinity'))
    and at >= c.begins and at < coalesce(c.ends, 'infinity')
    and ${where}
  order by seq desc limit ${FEW + 1}) r
where c.period = $4 order by r.seq desc limit ${FEW + 1}`,
    values: (about, now) => [now, actions.split(/\s+/), periodIn(about) ?? 'today'],
    tell(rows, { about, zone }) {
      const when = periodIn(about) ?? 'today';
      const head = `This ${what} ${when}${rows.length > FEW ? `, the newest ${FEW}` : ''}:`;
      if (rows.length === 0) return `Nothing ${what} ${when}, as far as you may see.`;
      return [head, ...lines(rows, zone)].join('\n');
    },
  });

/** What came since a period began, less what came since it ended; both count what lies after a time, so they begin before theirs. */
const sumsOf = (what: string, since: string, declared: Question) =>
  topic<{ period: string; currency: string; amount: number }>({
    ...declared,
    takes: TAKES_PERIOD,
    statement: /* sql */ `
with ${CALENDAR}
select c.period, coalesce(t.currency, w.currency) as currency, coalesce(t.amount, 0)::double precision as amount
from calendar c join workspaces w on w.workspace_id = $1 left join lateral (
  select e.currency, sum(e.amount) as amount from (
    select r.currency, r.amount from ${since}($1, c.begins - interval '1 microsecond') r
    union all
    select r.currency, -r.amount from ${since}($1, c.ends - interval '1 microsecond') r where c.ends is not null) e
  group by e.currency having sum(e.amount) <> 0) t on true
where c.period = any($3) order by array_position($3, c.period), t.currency <> w.currency, t.currency`,
    values: (about, now) => [now, [periodIn(about) ?? ['today', 'this week', 'this month']].flat()],
    tell(rows, { zone }) {
      const sums = [...Map.groupBy(rows, ({ period }) => period)].map(
        ([period, all]) =>
          `${what} ${period}: ${all.map(({ amount, currency }) => money(amount, currency)).join(', ')}.`,
      );
      return `${sums.join('\n')}\nDays and weeks are those of ${zone}; weeks begin on Monday. Currencies are not converted.`;
    },
  });

const workOf = (by: keyof typeof WORK, declared: Question & { takes: string }) =>
  topic<WorkRow>({
    ...declared,
    statement: WORK[by],
    values: (about) => [(about.replace(/^["“”']+|["“”']+$/g, '') || about || '\uFFFF').toLowerCase()],
    tell: (rows, { about, zone }) => workText(by, about ?? '', rows, zone),
  });

export const TOPICS: Readonly<Record<TopicName, Topic>> = {
  waiting: list('Nothing waits for a decision.', 'open decision', {
    example: 'What waits for me?',
    words: String.raw`what(?:'s| is)? (?:still )?(?:waits|waiting|pending)(?: for (?:me|us|approval|a decision))?`,
    statement: /* sql */ `
with counts as (select (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
    where split_part(key, ' ', 1) in ('pending', 'ready'))::int + (select count(*) from (
    select from escalations where workspace_id = $1 and status = 'open' limit 1000) c)::int as in_all)
(select escalation_id as record_id, left(reason, 600) as title, 'an escalation: you can choose ' ||
    replace(array_to_string(options, ' or '), '_', ' ') || case when due_at is null then '' else ', until' end as state, due_at as at, in_all
  from escalations, counts where workspace_id = $1 and status = 'open'
  order by ${MOST_URGENT_ESCALATIONS} limit 5)
union all (select approval_id, title, case when ready then 'risk ' || risk else 'its draft is being made' end ||
    case when inputs_needed > 0 then ', details missing: ' || inputs_needed else '' end || ', until', expires_at, in_all
  from (${firstPending(`workspace_id = $1 and status = 'pending'`, '$2', FEW)}) listed join approvals using (approval_id), counts
  order by listed.part, listed.requested_at, approval_id)`,
    values: (_about, now) => [soonAfter(now.getTime())],
  }),
  failed: receiptsOf('failed', FAILED, {
    example: 'What failed today?',
    words: `(?:what(?: has| have)?|did anything|has anything) fail(?:ed)?${WHEN}`,
  }),
  sent: receiptsOf('went out', SENT, {
    example: 'What was sent today?',
    words: `what(?: has| have)? (?:left|went out|gone out|(?:was|been) sent|(?:did )?we sen[dt])${WHEN}`,
  }),
  mail: workOf('recipient', {
    example: 'Did the mail to karl@acme.example go out?',
    words: String.raw`(?:did|has|was|who (?:approved|rejected)) (?:the|my|our) (?:(?:e-?)?mail|message|note) to (?<about>.{1,200}?)(?: (?:go out|gone out|leave|left|arrive|arrived|been sent|sent))?`,
    takes: 'an address, or the name before its @',
  }),
  decision: workOf('id', {
    example: 'Why was pkt_01khqw6q00fr0vpnqthbc7s4n2 denied?',
    words: String.raw`(?:(?:why|explain|show|status of|who (?:approved|rejected)|what is|did|has|was|is)(?: (?:is|was|did|does))? )?(?<about>(?:dir|pkt|apr|act)_[0-9a-z]{26})(?: \w+){0,3}`,
    takes: 'the id of a directive (dir_), work packet (pkt_), approval (apr_) or action request (act_)',
  }),
  approved: workOf('words', {
    example: 'Who approved "Your order"?',
    words: String.raw`who (?:approved|rejected|decided(?: on)?) (?:the directive )?(?<about>.{1,200})`,
    takes: 'an address, the name before its @, or words of the directive or of what an agent asked for',
  }),
  agent: workOf('agent', {
    example: 'What did refund-bot do today?',
    words: 'what (?:did|has) (?<about>.{1,80}?) (?:do|done|ask for|asked for)(?: today)?',
    takes: 'the name of an agent from outside',
  }),
  guardian: topic<{ mode: string; since: number | null; reason: string | null; changes: Line[] }>({
    example: 'Is the kill switch on, and who engaged it?',
    words: String.raw`(?:is the kill ?switch (?:on|off|engaged)(?:,? and who engaged it)?|who (?:engaged|lifted) the kill ?switch|who (?:set|changed) the mode|what(?:'s| is) the (?:guardian's )?mode)`,
    // With the receipts of how it came to be so, as far as the member may read them.
    statement: /* sql */ `
select mode, killed_at as since, reason,
  (select coalesce(json_agg(c), '[]') from (
    select receipt_id as "recordId", concat_ws(' ', body::jsonb->>'summary', case when action <> 'guardian.killed' then body::jsonb->'details'->>'reason' end) as title, 'on' as state, app.ms(at) as at
    from unnest($2::text[]) a (action) cross join lateral (
      select seq, receipt_id, at, body from receipts where workspace_id = $1 and action = a.action
      order by seq desc limit ${FEW}) r
    order by seq desc limit ${FEW}) c) as changes
from guardians where workspace_id = $1`,
    values: () => [['guardian.killed', 'guardian.recovering', 'guardian.reverted', 'guardian.mode_changed']],
    tell([row], { zone }) {
      const { mode, since, reason, changes } = row!;
      const why = reason === null ? 'without a reason' : `with the reason ${quoted(reason)}`;
      const state = since === null ? 'is off' : `was engaged on ${momentIn(since, zone)}, ${why}`;
      const told =
        changes.length === 0 ? 'You may read no receipt of a change.' : 'The last changes, by receipts:';
      const now = `The kill switch ${state}. The guardian is in mode ${mode}. ${told}`;
      return [now, ...lines(changes, zone)].join('\n');
    },
  }),
  revenue: sumsOf('Revenue', 'app.revenue_since', {
    example: 'How much revenue this week?',
    words: `how much (?:revenue|income)(?: did we make| came in)?${WHEN}`,
  }),
  cost: sumsOf('Cost of drafts', 'app.cost_since', {
    example: 'How much did drafts cost this month?',
    words: `(?:how much|what) did (?:we spend|(?:the )?drafts cost)${WHEN}`,
  }),
  signals: list('No signal is open.', 'open signal', {
    example: 'Which signals are open?',
    words: String.raw`(?:(?:which|what) signals are open|show (?:the |open )?signals)`,
    statement: /* sql */ `
select signal_id as record_id, title, severity || ', of' as state, created_at as at,
  (select coalesce(sum(n), 0)::int from app.tally_of($1, 'signals') where key = 'open') as in_all
from signals where workspace_id = $1 and withdrawn_at is null and acknowledged_at is null
order by created_at desc, signal_id desc limit ${FEW}`,
  }),
  standing_orders: list('No standing order that you may see is active.', 'active standing order', {
    example: 'Which standing orders are active?',
    words: String.raw`(?:(?:which|what) standing orders are active|show (?:the |active )?standing orders)`,
    statement: /* sql */ `
select standing_order_id as record_id, name || case when text = name then '' else ': ' || left(text, 300) end as title,
  effect || case when expires_at is null then '' else ', until' end as state, expires_at as at, count(*) over ()::int as in_all
from standing_orders where workspace_id = $1 and status = 'active'
order by created_at desc, standing_order_id desc limit ${FEW}`,
  }),
};

export const TOPIC_NAMES = Object.keys(TOPICS) as [TopicName, ...TopicName[]];
const PATTERNS = TOPIC_NAMES.map(
  (subject) => [subject, new RegExp(`^(?:${TOPICS[subject].words})$`, 'i')] as const,
);

/** A topic, and what about it is asked. */
export interface LookUp {
  subject: TopicName;
  about: string | null;
}

/** The record that the member looks at; "this week" is a period. */
const THIS = /\b(?:this|that|it)\b(?! (?:week|month)\b)(?: (?:directive|approval|draft|mail|request)\b)?/i;

/**
 * The question that a message is, all of it; undefined where it is another one.
 * @param open the id of the record that "this" means
 */
export function questionIn(message: string, open?: string): LookUp | undefined {
  const words = open !== undefined && isWork(open) ? plain(message).replace(THIS, open) : plain(message);
  for (const [subject, pattern] of PATTERNS) {
    const found = pattern.exec(words);
    if (found) return { subject, about: found.groups?.['about'] ?? null };
  }
  return undefined;
}

/** A message as patterns read it: one line, straight apostrophes, without a greeting and the mark at its end. */
export function plain(message: string): string {
  return withoutUnseen(message)
    .replace(/[’‘]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:(?:please|hi|hello|hey|consigliere)\b[ ,]*)+/i, '')
    .replace(/[ ?!.]+$/, '');
}

export const HELP = `I answer these questions:
${TOPIC_NAMES.map((name) => `- ${TOPICS[name].example}`).join('\n')}
Other names, ids and periods (yesterday, this week, last week, this month, last month) work too.
To hand in work, begin with what is to be done, such as: Email jane@acme.example, subject "Your order": "It ships on Friday." Or begin with "Directive:". I ask once whether to hand it in.
I never approve, reject or change anything.`;
