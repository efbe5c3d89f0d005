drop function if exists app.end_attempt;

-- Ends an attempt in the transaction that writes its result: the item is done, or with p_wait_ms due again after that
-- (infinity: parked). Fails, and so undoes the result, when the item is not this attempt's any more.
create function app.end_attempt(p_kind text, p_id text, p_attempt bigint, p_wait_ms double precision, p_error jsonb,
    p_failures int)
  returns void language plpgsql set search_path = public, pg_temp as $$
begin
  if p_wait_ms is null then
    delete from work_items w where w.kind = p_kind and w.id = p_id and w.attempt = p_attempt and w.claimed;
  else
    update work_items w set claimed = false, abort_requested = false,
      -- What is parked has not failed this time; it still says why it failed before.
      last_error = case when p_wait_ms = 'infinity' then coalesce(p_error, w.last_error) else p_error end,
      failures = w.failures + p_failures, crashes = 0,
      due_at = case when p_wait_ms = 'infinity' then 'infinity'
        else clock_timestamp() + p_wait_ms * interval '1 millisecond' end
    where w.kind = p_kind and w.id = p_id and w.attempt = p_attempt and w.claimed;
  end if;
  if not found then
    raise exception '% % is not attempt %''s any more', p_kind, p_id, p_attempt using errcode = 'CW001';
  end if;
end $$;
revoke execute on function app.end_attempt from public;
grant execute on function app.end_attempt to consigliere_app;
