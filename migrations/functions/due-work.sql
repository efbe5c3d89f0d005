drop function if exists app.due_work;

-- Which queues of these kinds have something that falls due within p_ahead, and in how many milliseconds the first of it
-- does. With p_since only what fell due since then is read: who looks again and again knows the rest. So a look costs as much
-- as has fallen due since the last one, however many queues wait and however much waits in one of them. Plans must not hang
-- on statistics: each order and each "+ interval '0'" leaves one index that serves.
create function app.due_work(p_kinds text[], p_ahead interval, p_since timestamptz default null)
  returns table (kind text, queue text, due_in_ms double precision)
  language sql stable security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
  select k.kind, fell.queue, extract(epoch from min(greatest(fell.due_at, b.opens_at)) - clock_timestamp())::float8 * 1000
  from unnest(p_kinds) k (kind)
  cross join (values (coalesce(p_since, '-infinity'), now() + p_ahead)) span (since, until)
  cross join lateral (
    (select w.queue, w.due_at from work_items w
    where w.kind = k.kind and not w.claimed and w.due_at < 'infinity' and w.due_at between span.since and span.until
    order by w.due_at)
    union all
    -- Whose leases have ended. Few are claimed at a time, so they have no index by time.
    select w.queue, w.due_at from work_items w
    where w.kind = k.kind and w.claimed and w.due_at + interval '0' between span.since and span.until
    union all
    select b.queue, b.opens_at from work_breakers b
    where b.kind = k.kind and b.opens_at between span.since and span.until and span.until >= (
      select w.due_at from work_items w where w.kind = b.kind and w.queue = b.queue order by w.due_at limit 1)
  ) fell
  left join work_breakers b on b.kind = k.kind and b.queue = fell.queue
  where b.opens_at is null or b.opens_at <= span.until
  group by k.kind, fell.queue
$$;
alter function app.due_work owner to consigliere_system;
revoke execute on function app.due_work from public;
grant execute on function app.due_work to consigliere_app;
