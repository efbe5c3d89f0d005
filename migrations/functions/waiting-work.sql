drop function if exists app.waiting_work;

-- How many items of each kind wait for somebody to claim them, whether they are due or not. Counted up to 10,000: what it
-- costs must not grow with a flood.
create function app.waiting_work(p_kinds text[]) returns table (kind text, n bigint)
  language sql stable security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off as $$
  select k.kind, (
    select count(*) from (
      select 1 from work_items w where w.kind = k.kind and not w.claimed limit 10000
    ) waiting
  )
  from unnest(p_kinds) k (kind)
$$;
alter function app.waiting_work owner to consigliere_system;
revoke execute on function app.waiting_work from public;
grant execute on function app.waiting_work to consigliere_app;
