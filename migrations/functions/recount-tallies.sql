drop function if exists app.recount_tallies;

-- The tallies from the rows as they are: after rows were written past the triggers (a restored table).
create function app.recount_tallies() returns void language sql set search_path = public, pg_temp as $$
delete from tally_notes;
delete from tallies;
insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount)
select c.workspace_id, o.team_id, c.kind, c.key, c.bucket, sum(c.n), sum(c.amount)
from app.counted c cross join lateral (values (coalesce(c.team_id, '')), ('*')) o (team_id)
where (c.bucket = '-infinity' or c.bucket > now() - interval '100 days') and (c.kind <> 'partner' or o.team_id = '*')
group by 1, 2, 3, 4, 5;
$$;
revoke all on function app.recount_tallies from public;
