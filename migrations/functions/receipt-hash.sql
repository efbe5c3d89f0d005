drop function if exists app.receipt_hash;

-- The hash of a receipt of the own workspace, also where the receipt itself belongs to another team: it shows whether a chain
-- is still the one that somebody has read, and says nothing else.
create function app.receipt_hash(p_seq bigint) returns text
  language sql stable security definer set search_path = public, pg_temp as $$
  select r.hash from receipts r where r.workspace_id = current_setting('app.workspace_id', true) and r.seq = p_seq
$$;
alter function app.receipt_hash owner to consigliere_system;
revoke execute on function app.receipt_hash from public;
grant execute on function app.receipt_hash to consigliere_app;
