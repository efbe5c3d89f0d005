drop function if exists app.last_receipt_seq;

-- The number of the last receipt of the own workspace that has been committed; 0 before the first.
create function app.last_receipt_seq() returns bigint
  language sql stable set search_path = public, pg_temp as $$
  select h.seq from receipt_heads h where h.workspace_id = current_setting('app.workspace_id', true)
$$;
revoke execute on function app.last_receipt_seq from public;
grant execute on function app.last_receipt_seq to consigliere_app;
