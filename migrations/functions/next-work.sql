drop function if exists app.next_work;

-- When the first item of each of these queues may be claimed, in milliseconds; is_due: it may be already, so a claim that
-- has just been made in this transaction had no room for it.
create function app.next_work(p_kind text, p_queues text[])
  returns table (queue text, due_in_ms double precision, is_due boolean)
  language sql stable security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  select q.queue, extract(epoch from greatest(next.due_at, b.opens_at) - clock_timestamp())::float8 * 1000,
    greatest(next.due_at, b.opens_at) <= now()
  from unnest(p_queues) q (queue)
  cross join lateral (
    select w.due_at from work_items w
    where w.kind = p_kind and w.queue = q.queue and w.due_at < 'infinity'
    order by w.due_at limit 1
  ) next
  left join work_breakers b on b.kind = p_kind and b.queue = q.queue
$$;
alter function app.next_work owner to consigliere_system;
revoke execute on function app.next_work from public;
grant execute on function app.next_work to consigliere_app;
