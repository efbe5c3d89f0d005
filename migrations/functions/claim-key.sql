drop function if exists app.claim_key;

-- The advisory lock makes a second request with the same key wait for the first, the look-up after it has a snapshot
-- of its own (the function is volatile) and so sees what the first has committed.
create function app.claim_key(p_workspace_id text, p_member_id text, p_key text) returns setof idempotency_keys
  language plpgsql set search_path = public, pg_temp as $$
begin
  set local lock_timeout = '10s';
  perform pg_advisory_xact_lock(hashtextextended(p_workspace_id || ' ' || p_member_id || ' ' || p_key, 1));
  set local lock_timeout = 0;
  return query select * from idempotency_keys i
    where i.workspace_id = p_workspace_id and i.member_id = p_member_id and i.key = p_key
      and i.created_at > now() - interval '24 hours';
end $$;
grant execute on function app.claim_key to consigliere_app;
