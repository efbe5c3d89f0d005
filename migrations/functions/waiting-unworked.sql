drop function if exists app.waiting_unworked;

-- The kind of work whose queue has waited longest with nothing of it in flight, and for how many milliseconds; no row where
-- nothing waits like that. A queue that is worked on may be long without being stuck.
create function app.waiting_unworked(p_kinds text[]) returns table (kind text, waiting_ms double precision)
  language sql stable security definer set search_path = public, pg_temp as $$
  select d.kind, -d.due_in_ms from app.due_work(p_kinds, interval '0') d
  where not exists (select from work_items w
    where w.kind = d.kind and w.queue = d.queue and w.claimed and w.due_at > clock_timestamp())
  order by d.due_in_ms limit 1
$$;
alter function app.waiting_unworked owner to consigliere_system;
revoke execute on function app.waiting_unworked from public;
grant execute on function app.waiting_unworked to consigliere_app;
