drop function if exists app.last_seq_to;

create function app.last_seq_to(p_workspace_id text, p_to timestamptz) returns bigint
  language sql stable set search_path = public, pg_temp as $$
  select coalesce((select r.seq from receipts r
    where r.workspace_id = p_workspace_id and r.at >= p_to + interval '1 minute' order by r.at limit 1),
    9223372036854775807)
$$;
grant execute on function app.last_seq_to to consigliere_app;
