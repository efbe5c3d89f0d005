/** The statements that look up one record by its id: $1 is the workspace, $2 the id. */

/** Of a text that goes into an answer or to a model, in characters. */
const TEXT = 1_000;
/** A directive with more work packets, or an approval that was asked for more often, is shown in part. */
const PACKETS = 10;
const DECISIONS = 3;

/** The address of a destination belongs in no answer; its name stands in the target (docs/decisions/0029). */
const PARAMS = `case p.action_type when 'webhook.post' then p.params - 'destination' else p.params end`;

const PACKET = /* sql */ `
select p.work_packet_id as "workPacketId", p.directive_id as "directiveId", p.title, p.action_type as type,
  left(p.target, ${TEXT}) as target,
  case when octet_length(p.params::text) <= 4000 then ${PARAMS} else to_jsonb(left((${PARAMS})::text, 4000) || '…') end as params,
  p.status, p.capo, p.allowed_by as "allowedBy", left(p.result->'error'->>'message', ${TEXT}) as failure,
  (select coalesce(json_agg(d), '[]') from (
    select decision_id as "decisionId", app.ms(at) as at, outcome, decision->'explanation' as explanation,
      jsonb_path_query_array(decision, '$.matched[*].standingOrderId') as "standingOrderIds", decision->>'guardian' as mode
    from policy_decisions where workspace_id = p.workspace_id and work_packet_id = p.work_packet_id
    order by at desc limit ${DECISIONS}) d) as decisions
from work_packets p where p.workspace_id = d.workspace_id and p.directive_id = d.directive_id
order by p.position limit ${PACKETS}`;

const APPROVAL = /* sql */ `
select a.approval_id as "approvalId", a.directive_id as "directiveId", a.title, a.status, a.ready, a.risk,
  a.policy->'explanation' as explanation, a.decided_by->>'name' as "decidedBy", app.ms(a.decided_at) as "decidedAt",
  left(a.feedback, ${TEXT}) as feedback, app.ms(a.expires_at) as "expiresAt"
from approvals a where a.workspace_id = d.workspace_id and a.directive_id = d.directive_id
order by a.requested_at desc limit ${DECISIONS}`;

const directiveBy = (condition: string) => /* sql */ `
select d.directive_id, left(d.text, ${TEXT}) as text, d.status, d.capo, left(d.routing->>'reason', ${TEXT}) as routing,
  left(d.error->>'message', ${TEXT}) as error, d.created_by->>'name' as created_by, d.created_at,
  (select coalesce(json_agg(p), '[]') from (${PACKET}) p) as packets,
  (select count(*)::int from work_packets p where p.workspace_id = d.workspace_id and p.directive_id = d.directive_id)
    as packets_in_all,
  (select coalesce(json_agg(a), '[]') from (${APPROVAL}) a) as approvals
from directives d where d.workspace_id = $1 and ${condition}`;

/** A directive, by its own id or by that of its work packet or approval. */
export const DIRECTIVE_FACTS = {
  dir: directiveBy('d.directive_id = $2'),
  pkt: directiveBy(
    'd.directive_id = (select w.directive_id from work_packets w where w.workspace_id = $1 and w.work_packet_id = $2)',
  ),
  apr: directiveBy(
    'd.directive_id = (select w.directive_id from approvals w where w.workspace_id = $1 and w.approval_id = $2)',
  ),
};

export const ORDER_FACTS = /* sql */ `
select standing_order_id, name, left(text, ${TEXT}) as text, status, effect, capos, match, "when", limits, budget,
  held_because, expires_at, activated_at, version
from standing_orders where workspace_id = $1 and standing_order_id = $2`;

export const SIGNAL_FACTS = /* sql */ `
select signal_id, type, severity, title, left(body, ${TEXT}) as body, created_at, acknowledged_at
from signals where workspace_id = $1 and signal_id = $2 and withdrawn_at is null`;
