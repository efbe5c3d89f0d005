drop function if exists app.claim_work;

-- Claims due items of these queues, the longest due first, up to p_rooms[i] of p_queues[i]; each stays its claimer's for
-- p_lease. With p_in_flight no more than so many of a queue are in flight over all processes: claims for one queue
-- then follow each other, and what they leave to be claimed is up to its breaker. An item that is claimed again though
-- another process had claimed it has outlived that process; one that comes back to its claimer only lost its lease.
-- A claim that is lost with the server's memory is only made again, so it need not wait for the disk. Plans must not
-- hang on statistics, which a table like this one never has right.
create function app.claim_work(p_kind text, p_queues text[], p_rooms int[], p_in_flight int, p_lease interval,
    p_claimer text)
  returns table (id text, workspace_id text, queue text, attempt bigint, failures int, crashes int, last_error jsonb,
    probe boolean, traceparent text)
  language plpgsql security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
#variable_conflict use_column
declare
  wanted record;
  breaker work_breakers;
  room int;
begin
  set local synchronous_commit = off;
  for wanted in select u.queue, u.room from unnest(p_queues, p_rooms) u (queue, room) order by u.queue loop
    room := wanted.room;
    breaker := null;
    if p_in_flight is not null then
      perform pg_advisory_xact_lock(hashtextextended(p_kind || ' ' || wanted.queue, 2));
      select * into breaker from work_breakers b where b.kind = p_kind and b.queue = wanted.queue;
      continue when breaker.opens_at > clock_timestamp();
      room := least(room, case when breaker.kind is null then p_in_flight else 1 end - (
        select count(*) from work_items w where w.kind = p_kind and w.queue = wanted.queue and w.claimed
          and w.due_at > clock_timestamp())::int);
    end if;
    continue when room <= 0;
    return query
      with due as (
        select w.kind, w.id from work_items w
        where w.kind = p_kind and w.queue = wanted.queue and w.due_at <= now()
        order by w.due_at limit room for update skip locked
      )
      update work_items w set claimed = true, abort_requested = false, attempt = nextval('work_attempts'),
        crashes = w.crashes + (w.claimed and w.claimed_by <> p_claimer)::int, claimed_by = p_claimer, due_at = clock_timestamp() + p_lease
      from due where w.kind = due.kind and w.id = due.id
      returning w.id, w.workspace_id, w.queue, w.attempt, w.failures, w.crashes, w.last_error,
        breaker.kind is not null, w.traceparent;
    if found and breaker.kind is not null then
      update work_breakers b set opens_at = clock_timestamp() + b.retry_every
        where b.kind = p_kind and b.queue = wanted.queue;
    end if;
  end loop;
end $$;
alter function app.claim_work owner to consigliere_system;
revoke execute on function app.claim_work from public;
grant execute on function app.claim_work to consigliere_app;
