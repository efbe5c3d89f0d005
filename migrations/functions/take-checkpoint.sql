drop function if exists app.take_checkpoint;

-- Keeps the mode, the order versions in force and the settings of the transaction's workspace, with the head of its chain.
-- The hash is that of the record without it, as canonical JSON. A kill never fails because of it: then nothing is answered,
-- and nothing is kept. Nothing here waits for a lock.
create function app.take_checkpoint(p_checkpoint_id text, p_label text, p_taken_before text, p_by jsonb, p_at timestamptz)
  returns jsonb language plpgsql security definer set search_path = public, pg_temp as $$
declare
  own_workspace constant text := current_setting('app.workspace_id', true);
  most_orders constant int := 10000;
  is_killed boolean;
  former_mode text;
  orders text;
  order_count int;
  settings jsonb;
  snapshot text;
  head receipt_heads;
  checkpoint_hash text;
begin
  select g.mode = 'killed', case when g.mode in ('killed', 'recovering') then g.mode_before_kill else g.mode end
    into strict is_killed, former_mode from guardians g where g.workspace_id = own_workspace;
  if is_killed and p_taken_before = 'kill' then
    return null;
  end if;
  select count(*), coalesce(string_agg('{"hash":' || to_json(o.hash)::text || ',"standingOrderId":' || to_json(o.standing_order_id)::text
      || ',"status":"' || o.status || '","version":' || o.version || '}', ',' order by o.standing_order_id collate "C"), '')
    into order_count, orders
    from (select hash, standing_order_id, status, version from standing_orders
      where workspace_id = own_workspace and status in ('active', 'shadow')
        and (expires_at is null or expires_at > p_at) limit most_orders + 1) o;
  if order_count > most_orders then
    raise exception 'more than % standing orders are in force', most_orders using errcode = 'CW004';
  end if;
  -- Every setting of the workspace, in the names of the wire.
  select jsonb_build_object('timezone', w.timezone, 'locale', w.locale, 'currency', w.currency, 'presence', w.presence,
      'quietHours', w.quiet_hours, 'notifications', w.notifications, 'sender', jsonb_build_object('name', w.sender_name,
        'signature', w.sender_signature, 'replyTo', w.sender_reply_to), 'modelBudget', w.model_budget,
      'retention', w.retention, 'secondFactor', w.second_factor)
    into strict settings from workspaces w where w.workspace_id = own_workspace;
  select * into strict head from receipt_heads h where h.workspace_id = own_workspace;
  snapshot := '{"mode":"' || former_mode || '","orders":[' || orders || '],"settings":' || app.canonical_json(settings) || '}';
  checkpoint_hash := encode(sha256(convert_to('{"auto":' || (p_taken_before is not null)::text
    || ',"checkpointId":' || to_json(p_checkpoint_id)::text || ',"createdAt":' || app.ms(p_at)
    || ',"createdBy":' || app.canonical_json(p_by) || ',"label":' || coalesce(to_json(p_label)::text, 'null')
    || ',"receiptHash":' || to_json(head.hash)::text || ',"receiptSeq":' || head.seq || ',"snapshot":' || snapshot || '}',
    'UTF8')), 'hex');
  insert into guardian_checkpoints (workspace_id, checkpoint_id, label, taken_before, created_by, created_at, receipt_seq,
    receipt_hash, snapshot, hash)
  values (own_workspace, p_checkpoint_id, p_label, p_taken_before, p_by, p_at, head.seq, head.hash, snapshot::jsonb,
    checkpoint_hash);
  return jsonb_build_object('checkpointId', p_checkpoint_id, 'receiptSeq', head.seq, 'hash', checkpoint_hash);
exception when others then
  if p_taken_before is distinct from 'kill' then
    raise;
  end if;
  return null;
end $$;
alter function app.take_checkpoint owner to consigliere_system;
revoke execute on function app.take_checkpoint from public;
grant execute on function app.take_checkpoint to consigliere_app;
