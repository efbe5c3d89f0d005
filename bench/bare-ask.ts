import { newId } from '../src/platform/kernel/ids.js';
import { sha256 } from '../src/platform/kernel/canonical-json.js';

/**
 * One statement that looks the token up and writes what a request leaves behind that an order allows: the request, its decision, the
 * use of the order, and the receipt in the chain under the lock of its head. Their content is that of a former request; nothing
 * is checked or decided.
 */
const ASK = /* sql */ `
with caller as (
  select workspace_id from tokens where token_hash = $1 and revoked_at is null and paused_at is null for share
),
told as (
  select jsonb_build_object('action_request_id', $3::text, 'work_packet_id', $3::text, 'entity_id', $3::text,
    'receipt_id', $4::text, 'decision_id', $5::text, 'at', now(), 'created_at', now()) as new
),
request as (
  insert into action_requests
  select (jsonb_populate_record(former, new)).* from told, caller join action_requests former using (workspace_id)
  where action_request_id = $2
  returning *
),
decision as (
  insert into policy_decisions
  select (jsonb_populate_record(former, new)).* from told, caller join policy_decisions former using (workspace_id)
  where work_packet_id = $2
),
use as (
  insert into standing_order_uses
  select (jsonb_populate_record(former, new)).* from told, caller join standing_order_uses former using (workspace_id)
  where work_packet_id = $2
),
former as (
  select r.*, replace(replace(r.body, $2, $3), r.receipt_id, $4) as body_now
  from caller join receipts r using (workspace_id) where r.entity_id = $2 and r.action = 'action.allowed'
),
head as (
  update receipt_heads h set seq = h.seq + 1,
    hash = encode(sha256(convert_to(h.hash || body_now, 'UTF8')), 'hex')
  from former where h.workspace_id = former.workspace_id
  returning h.workspace_id, new.seq, old.hash as prev_hash, new.hash as hash
),
receipt as (
  insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id, body,
    prev_hash, hash)
  select workspace_id, head.seq, $4, now(), actor_type, actor_id, action, entity_type, $3, body_now, head.prev_hash, head.hash
  from head join former using (workspace_id)
)
select * from request`;

/** Another request with the content of `like`. */
export function bareAsk(token: string, like: string) {
  return { name: 'ask', text: ASK, values: [sha256(token), like, newId('act'), newId('rcp'), newId('dec')] };
}
