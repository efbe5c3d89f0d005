drop function if exists app.finish;

-- Ends an act in one round trip: messages, the stored answer, the receipts, then its events, which carry the head of the
-- chain. The head is locked late, so no client round trip happens while it is locked; COMMIT travels behind this call.
-- Answers the destinations that have something to be delivered now.
create function app.finish(act jsonb) returns text[]
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  own_workspace constant text := act->>'workspaceId';
  receipt jsonb;
  event jsonb;
  head_seq bigint;
  head_hash text;
  is_read_only boolean;
  open_actions constant text[] := array['workspace.export%', 'workspace.deletion%', 'guardian.killed',
    'guardian.unconfirmed', 'session.%', 'token.%', 'account.%', 'password.%', 'second\_factor.%', 'identity.%'];
  next_hash text;
  wanted text[];
  reached text[] := '{}';
begin
  -- It runs as the owner, so row-level security may not look at what it writes.
  if own_workspace is distinct from current_setting('app.workspace_id', true) then
    raise insufficient_privilege using message = 'an act ends in the workspace of its transaction';
  end if;
  if act ? 'messages' then
    perform pg_notify('consigliere', message) from jsonb_array_elements_text(act->'messages') message;
  end if;
  if act ? 'answer' then
    insert into idempotency_keys as kept
      (workspace_id, member_id, key, fingerprint, status, content_type, headers, body, created_at)
    values (own_workspace, act->'answer'->>'memberId', act->'answer'->>'key', act->'answer'->>'fingerprint',
      (act->'answer'->>'status')::smallint, act->'answer'->>'contentType', act->'answer'->'headers',
      act->'answer'->>'body', now())
    on conflict (workspace_id, member_id, key) do update set
      fingerprint = excluded.fingerprint, status = excluded.status, content_type = excluded.content_type,
      headers = excluded.headers, body = excluded.body, created_at = excluded.created_at;
  end if;
  if act ? 'receipts' then
    select seq, hash, read_only into strict head_seq, head_hash, is_read_only from receipt_heads
      where workspace_id = own_workspace for update;
    -- Acts that only stop work wait for no change of members. Each such change writes a receipt too, so under this lock
    -- it is known which of the two came first.
    if act ? 'caller' and not exists (
      select from members m where m.workspace_id = own_workspace and m.member_id = act->'caller'->>'memberId'
        and m.status = 'active' and m.role = act->'caller'->>'role'
        and act->'caller'->'teamRoles' = (select coalesce(jsonb_object_agg(tm.team_id, tm.role), '{}') from team_members tm
          where tm.workspace_id = own_workspace and tm.member_id = m.member_id)) then
      raise exception 'the caller has another role by now, or none' using errcode = 'CW002';
    end if;
    -- People may still sign in, take the copy they are owed, take the deletion back, and stop what is under way, as the act
    -- that asks for the deletion does; work that was under way says how it ended.
    if is_read_only and exists (select from jsonb_array_elements(act->'receipts') r
        where r->>'actorType' in ('member', 'agent', 'admin', 'partner') and not r->>'action' like any (open_actions)) then
      raise exception 'the workspace is being deleted' using errcode = 'CW003';
    end if;
    for receipt in select value from jsonb_array_elements(act->'receipts') loop
      next_hash := encode(sha256(convert_to(head_hash || (receipt->>'body'), 'UTF8')), 'hex');
      head_seq := head_seq + 1;
      insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id,
        directive_id, team_id, capo, body, prev_hash, hash)
      values (own_workspace, head_seq, receipt->>'receiptId', to_timestamp((receipt->>'at')::float8 / 1000),
        receipt->>'actorType', receipt->>'actorId', receipt->>'action', receipt->>'entityType',
        receipt->>'entityId', receipt->>'directiveId', receipt->>'teamId', receipt->>'capo', receipt->>'body',
        head_hash, next_hash);
      head_hash := next_hash;
    end loop;
    update receipt_heads set seq = head_seq, hash = head_hash where workspace_id = own_workspace;
  end if;
  if act ? 'events' then
    for event in select value from jsonb_array_elements(act->'events') loop
      wanted := array(select destination_id from webhook_destinations
        where workspace_id = own_workspace and deleted_at is null and status <> 'gone'
          and case when event ? 'only' then destination_id = event->'only'->>'destinationId'
            else event->>'event' = any (events) end);
      continue when wanted = '{}';
      if head_seq is null then
        select seq, hash into strict head_seq, head_hash from receipt_heads where workspace_id = own_workspace;
      end if;
      insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
      values (event->>'eventId', own_workspace, event->>'event', event->>'requestId',
        (event->>'bodyStart') || ',"receiptHead":{"seq":' || head_seq || ',"hash":"' || head_hash || '"}}}', now());
      with delivery as (
        insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, created_at)
        select coalesce(event->'only'->>'deliveryId', app.new_id('dlv')), own_workspace, destination_id,
          event->>'eventId', event->>'event', 'pending', now()
        from unnest(wanted) destination_id
        returning delivery_id, destination_id
      )
      insert into work_items (kind, id, workspace_id, queue, due_at)
      select 'webhook.deliver', delivery_id, own_workspace, destination_id, now() from delivery;
      reached := reached || wanted;
    end loop;
  end if;
  return reached;
end $$;
revoke execute on function app.finish from public;
grant execute on function app.finish to consigliere_app;
