drop function if exists app.due_deletions;

-- Deletions with something to do: their owners are to be warned a day before, or their grace is over.
create function app.due_deletions() returns table (workspace_id text, step text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select d.workspace_id, case when d.warned_at is null then 'warn' else 'delete' end
  from workspace_deletions d
  where d.warned_at is null and d.due_at <= now() + interval '1 day' or d.warned_at is not null and d.due_at <= now()
  order by d.due_at
$$;
alter function app.due_deletions owner to consigliere_system;
revoke execute on function app.due_deletions from public;
grant execute on function app.due_deletions to consigliere_app;
