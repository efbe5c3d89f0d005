import { momentIn } from '../../platform/kernel/local-day.js';
import { cutText } from '../../platform/kernel/text.js';
import type { RecipientOutcome } from '../directives/index.js';
import { quoted, spoken } from './reply-text.js';

/** Directives with their packets and approvals, and what agents asked for: by an id, a recipient, an agent or words. */
export interface WorkRow {
  /** Null for what an agent asked for. */
  directiveId: string | null;
  text: string;
  status: string;
  error: string | null;
  createdBy: string;
  createdAt: number;
  packets: {
    workPacketId: string;
    title: string;
    type: string;
    target: string | null;
    status: string;
    allowedBy: string | null;
    failure: string | null;
    transport: string | null;
    recipients: RecipientOutcome[];
    executedAt: number | null;
    /** The question names it, or whom it goes to. */
    isMeant: boolean;
    decision: { decisionId: string; at: number; outcome: string; explanation: string[] } | null;
  }[];
  approvals: {
    approvalId: string;
    status: string;
    ready: boolean;
    risk: string;
    decidedBy: string | null;
    decidedAt: number | null;
    feedback: string | null;
    expiresAt: number;
  }[];
  action: {
    actionRequestId: string;
    tool: string;
    explanation: string[];
    result: { outcome: string; summary: string; at: number } | null;
  } | null;
}

/** Whether an id is that of a directive, a work packet, an approval or an action request. */
export const isWork = (id: string): boolean => /^(?:dir|pkt|apr|act)_/.test(id);

/** Few of each: an answer is a few sentences, not an archive. */
export const FEW = 10;
/** How many mails and directives are searched for a name, the newest first. */
const SEARCHED = 5_000;

/** $2 is an address, its domain, words that stand before its @, or the name that the directive writes before it. */
const IS_TO = /* sql */ `(p.action_type = 'email.send' and exists (select from string_to_table(lower(p.target), ', ') address
  where $2 in (address, split_part(address, '@', 2))
    or regexp_split_to_array($2, '[ ._+-]+') <@ regexp_split_to_array(split_part(address, '@', 1), '[._+-]+')
    or position($2 || ' <' || address in lower(d.text)) > 0 or position($2 || ' (' || address in lower(d.text)) > 0))`;

const TO_RECIPIENT = /* sql */ `
select p.directive_id from (
  select directive_id, action_type, target from work_packets where workspace_id = $1 and action_type = 'email.send'
  order by created_at desc limit ${SEARCHED}) p
join directives d on d.workspace_id = $1 and d.directive_id = p.directive_id where ${IS_TO}`;

const approvalsOf = (owner: string) => /* sql */ `(select coalesce(json_agg(a), '[]') from (
    select approval_id as "approvalId", status, ready, risk,
      coalesce((select string_agg(v.value->'by'->>'name', ', ' order by (v.value->>'at')::bigint)
        from jsonb_each(a.votes) v where a.status = 'approved'), decided_by->>'name') as "decidedBy",
      app.ms(decided_at) as "decidedAt", left(feedback, 300) as feedback, app.ms(expires_at) as "expiresAt"
    from approvals a where a.workspace_id = ${owner}
    order by requested_at desc limit 3) a) as approvals`;

const workBy = (found: string, actions: string) => /* sql */ `
with found as materialized (${found})
(select d.directive_id, left(d.text, 1000) as text, d.status, left(d.error->>'message', 300) as error,
  d.created_by->>'name' as created_by, d.created_at,
  (select coalesce(json_agg(p), '[]') from (
    select p.work_packet_id as "workPacketId", p.title, p.action_type as type, left(p.target, 300) as target, p.status, p.allowed_by as "allowedBy",
      left(p.result->'error'->>'message', 300) as failure, p.result->>'transport' as transport,
      case when p.result->>'transport' = 'file' then '[]' else coalesce(p.result->'recipients', '[]') end as recipients,
      app.ms(p.executed_at) as "executedAt", (p.work_packet_id = $2 or ${IS_TO}) as "isMeant",
      (select json_build_object('decisionId', decision_id, 'at', app.ms(at), 'outcome', outcome,
          'explanation', decision->'explanation')
        from policy_decisions where workspace_id = p.workspace_id and work_packet_id = p.work_packet_id
        order by at desc limit 1) as decision
    from work_packets p where p.workspace_id = d.workspace_id and p.directive_id = d.directive_id
    order by "isMeant" desc, p.position limit ${FEW}) p) as packets,
  ${approvalsOf('d.workspace_id and a.directive_id = d.directive_id')}, null::json as action
from directives d where d.workspace_id = $1 and d.directive_id in (select directive_id from found)
order by d.created_at desc, d.directive_id desc limit ${FEW})
union all
(select null, left(title, 1000), status, left(ended_because, 300), requested_by->>'name', created_at, '[]',
  ${approvalsOf('r.workspace_id and a.action_request_id = r.action_request_id')},
  json_build_object('actionRequestId', action_request_id, 'tool', tool, 'explanation', policy->'explanation', 'result', result - 'output')
from action_requests r where workspace_id = $1 and (${actions})
order by created_at desc, action_request_id desc limit ${FEW})
order by created_at desc limit ${FEW}`;

export const WORK = {
  recipient: workBy(TO_RECIPIENT, 'false'),
  id: workBy(
    /* sql */ `
select $2::text as directive_id
union select directive_id from work_packets where workspace_id = $1 and work_packet_id = $2
union select directive_id from approvals where workspace_id = $1 and approval_id = $2`,
    'action_request_id in ($2, (select action_request_id from approvals where workspace_id = $1 and approval_id = $2))',
  ),
  words: workBy(
    /* sql */ `${TO_RECIPIENT}
union select directive_id from (
  select directive_id, text from directives where workspace_id = $1 order by created_at desc limit ${SEARCHED}) d
where position($2 in lower(text)) > 0`,
    `action_request_id in (select action_request_id from action_requests where workspace_id = $1 order by created_at desc limit ${SEARCHED})
  and position($2 in lower(title)) > 0`,
  ),
  agent: workBy(
    'select null as directive_id',
    `lower(agent) = $2 and created_at >= app.window_start('day', app.clock(), app.workspace_zone($1))`,
  ),
};

/** Each directive with what became of it: who decided, by which rules, and whom it has reached. */
export function workText(
  by: keyof typeof WORK,
  about: string,
  rows: readonly WorkRow[],
  zone: string,
): string {
  if (rows.length === 0) {
    if (by === 'id') return `There is no record ${about}, or you may not see it.`;
    if (by === 'agent') return `No agent ${quoted(about)} asked for anything today that you may see.`;
    return `I find nothing for ${quoted(about)} among the newest ${SEARCHED} mails, directives and action requests that you may see. Name an address, the name before its @${by === 'words' ? ', words of the directive or an id' : ''}.`;
  }
  const told = rows.map((row) => (row.action ? actionText : directiveText)(row, zone)).join('\n');
  if (rows.length === 1) return told;
  const noun = rows.some(({ action }) => action) ? 'records' : 'directives';
  return `${rows.length === FEW ? 'The newest ' : ''}${rows.length} ${noun} match:\n${told}`;
}

/** What an agent asked for: what it is, who decided about it, and what the agent says came of it. */
function actionText({ action, approvals, ...row }: WorkRow, zone: string): string {
  const { actionRequestId, tool, explanation, result } = action!;
  return [
    `The action request ${actionRequestId} (${quoted(row.text)}, with the tool ${tool}), made by ${cutText(row.createdBy, 80)} on ${momentIn(row.createdAt, zone)}, is ${spoken(row.status)}.`,
    ...(row.error === null ? [] : [`It ended: ${quoted(row.error)}`]),
    ...explanation.map((sentence) => `  ${quoted(sentence, 400)}`),
    ...approvals.map((approval) => approvalText(approval, zone)),
    ...(result ? [`It ${result.outcome} on ${momentIn(result.at, zone)}: ${quoted(result.summary)}`] : []),
  ].join('\n');
}

function directiveText({ packets, approvals, ...row }: WorkRow, zone: string): string {
  const meant = packets.filter(({ isMeant }) => isMeant);
  return [
    `The directive ${row.directiveId} (${quoted(row.text)}), handed in by ${cutText(row.createdBy, 80)} on ${momentIn(row.createdAt, zone)}, is ${spoken(row.status)}.`,
    ...(row.error === null ? [] : [`It failed: ${quoted(row.error)}`]),
    // Who decided comes first: that is what most people ask for.
    ...approvals.map((approval) => approvalText(approval, zone)),
    ...(meant.length > 0 ? meant : packets).flatMap((packet) => packetLines(packet, zone)),
  ].join('\n');
}

function packetLines(packet: WorkRow['packets'][number], zone: string): string[] {
  const { workPacketId, title, type, target, status, recipients, executedAt, failure, decision } = packet;
  const isFiled = packet.transport === 'file';
  const isOut = status === 'executed' || recipients.some(({ outcome }) => outcome === 'accepted');
  const how = isFiled ? 'went to a file, which nobody has received' : isOut ? 'went out' : 'has not gone out';
  const went = type === 'email.send' ? `${how}, and ` : '';
  const to = target ? ` to ${quoted(target)}` : '';
  const on = executedAt === null ? '' : ` since ${momentIn(executedAt, zone)}`;
  return [
    `- ${workPacketId} (${quoted(title)}${to}) ${went}is ${spoken(status)}${on}.`,
    ...recipients
      .slice(0, FEW)
      .map(
        ({ address, outcome, answer, at }) =>
          `  ${address}: ${outcome} on ${momentIn(at, zone)}${outcome === 'accepted' ? '' : `, with the answer ${quoted(answer)}`}.`,
      ),
    ...(failure === null ? [] : [`  It failed: ${quoted(failure)}`]),
    ...(packet.allowedBy === 'policy' ? ['  The standing orders allowed it, and nobody was asked.'] : []),
    ...(decision ? [`  The policy decision of ${momentIn(decision.at, zone)}: ${decided(decision)}.`] : []),
    ...(decision?.explanation ?? []).map((sentence) => `  ${quoted(sentence, 400)}`),
  ];
}

const OUTCOMES: Record<string, string> = {
  allow: 'allowed',
  require_approval: 'a person has to approve it',
  deny: 'denied',
  throttle: 'allowed later',
};
const decided = ({ outcome }: { outcome: string }) => OUTCOMES[outcome] ?? spoken(outcome);

function approvalText(approval: WorkRow['approvals'][number], zone: string): string {
  const { approvalId, status, ready, risk, decidedBy, decidedAt, feedback, expiresAt } = approval;
  if (status === 'pending') {
    const what = ready ? `waits for a decision (risk ${risk})` : 'waits for its draft';
    return `The approval ${approvalId} ${what}, until ${momentIn(expiresAt, zone)}.`;
  }
  const by = decidedBy === null ? '' : ` by ${cutText(decidedBy, 80)}`;
  const on = decidedAt === null ? '' : ` on ${momentIn(decidedAt, zone)}`;
  return `The approval ${approvalId}: ${spoken(status)}${by}${on}${feedback === null ? '.' : `, saying ${quoted(feedback)}.`}`;
}
