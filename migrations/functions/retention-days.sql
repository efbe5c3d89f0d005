drop function if exists app.retention_days;

-- For how many days a workspace keeps something: as it says where that is a whole number within the bounds, else the
-- default. A value that somebody has written past the program must not keep the rows of other workspaces.
create function app.retention_days(p_retention jsonb, p_subject text, p_bounds jsonb) returns interval
  language sql immutable as $$
  select make_interval(days => (case
    when jsonb_typeof(p_retention->p_subject) = 'number'
      and (p_retention->>p_subject)::numeric = trunc((p_retention->>p_subject)::numeric)
      and (p_retention->>p_subject)::numeric
        between (p_bounds->p_subject->>'fewest')::int and (p_bounds->p_subject->>'most')::int
    then (p_retention->>p_subject)::numeric else (p_bounds->p_subject->>'standard')::numeric end)::int)
$$;
