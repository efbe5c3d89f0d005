drop function if exists app.extend_work;

-- Keeps claimed items for another lease; answers those that are still their claimer's, and whether they should stop.
create function app.extend_work(p_kinds text[], p_ids text[], p_attempts bigint[], p_lease interval)
  returns table (kind text, id text, attempt bigint, abort_requested boolean)
  language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
  set local synchronous_commit = off;
  return query
    with kept as (
      -- In one order, as whoever parks work locks it.
      select w.kind, w.id from work_items w
      join unnest(p_kinds, p_ids, p_attempts) mine (kind, id, attempt)
        on w.kind = mine.kind and w.id = mine.id and w.attempt = mine.attempt
      where w.claimed order by w.kind, w.id for no key update of w
    )
    update work_items w set due_at = clock_timestamp() + p_lease
    from kept where w.kind = kept.kind and w.id = kept.id
    returning w.kind, w.id, w.attempt, w.abort_requested;
end $$;
alter function app.extend_work owner to consigliere_system;
revoke execute on function app.extend_work from public;
grant execute on function app.extend_work to consigliere_app;
