drop function if exists app.first_seq_from;

-- A range of times as a range of numbers: by time alone, a page of last year was a walk through all of this one.
-- Numbers grow with time but for the clocks of the processes, which may differ by a minute. Functions, because a
-- condition with a sub-select could leak rows past row-level security for all the planner knows, so that it would not
-- use the index for it.
create function app.first_seq_from(p_workspace_id text, p_from timestamptz) returns bigint
  language sql stable set search_path = public, pg_temp as $$
  select coalesce((select r.seq from receipts r
    where r.workspace_id = p_workspace_id and r.at < p_from - interval '1 minute' order by r.at desc limit 1), 0)
$$;
grant execute on function app.first_seq_from to consigliere_app;
