drop function if exists app.check_attempt;

-- Fails when the item is not this attempt's any more; otherwise it stays this attempt's until the transaction ends.
create function app.check_attempt(p_kind text, p_id text, p_attempt bigint) returns void
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform from work_items w where w.kind = p_kind and w.id = p_id and w.attempt = p_attempt and w.claimed for share;
  if not found then
    raise exception '% % is not attempt %''s any more', p_kind, p_id, p_attempt using errcode = 'CW001';
  end if;
end $$;
revoke execute on function app.check_attempt from public;
grant execute on function app.check_attempt to consigliere_app;
