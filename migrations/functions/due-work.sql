drop function if exists app.due_work;

-- Which queues of these kinds have something due within p_ahead, and in how many milliseconds the first of it is. A queue
-- costs two look-ups, however much waits in it, so one that is flooded hides no other.
create function app.due_work(p_kinds text[], p_ahead interval)
  returns table (kind text, queue text, due_in_ms double precision)
  language sql stable security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  select k.kind, q.queue,
    extract(epoch from greatest(first.due_at, b.opens_at) - clock_timestamp())::float8 * 1000
  from unnest(p_kinds) k (kind)
  cross join lateral (
    with recursive each_queue (queue) as (
      (select w.queue from work_items w where w.kind = k.kind order by w.queue limit 1)
      union all
      select (select w.queue from work_items w where w.kind = k.kind and w.queue > each_queue.queue
        order by w.queue limit 1)
      from each_queue where each_queue.queue is not null
    )
    select each_queue.queue from each_queue where each_queue.queue is not null
  ) q
  cross join lateral (
    select w.due_at from work_items w where w.kind = k.kind and w.queue = q.queue order by w.due_at limit 1
  ) first
  left join work_breakers b on b.kind = k.kind and b.queue = q.queue
  where greatest(first.due_at, b.opens_at) <= clock_timestamp() + p_ahead
$$;
alter function app.due_work owner to consigliere_system;
revoke execute on function app.due_work from public;
grant execute on function app.due_work to consigliere_app;
