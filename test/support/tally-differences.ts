/** What the tallies say and the rows do not, and the reverse, at one moment, whatever is under way. */
export const TALLY_DIFFERENCES = /* sql */ `
with counted as (
  select workspace_id, coalesce(team_id, '') as team_id, kind, key, bucket, sum(n) as n, sum(amount) as amount
  from app.counted group by 1, 2, 3, 4, 5 having sum(n) <> 0 or sum(amount) <> 0
), told as (
  select workspace_id, team_id, kind, key, bucket, sum(n) as n, sum(amount) as amount from (
    select workspace_id, case kind when 'partner' then '' else team_id end as team_id, kind, key, bucket, n, amount
    from tallies where kind = 'partner' or team_id <> '*'
    union all
    select workspace_id, coalesce(team_id, ''), kind, key, bucket, n, amount from tally_changes) t
  group by 1, 2, 3, 4, 5 having sum(n) <> 0 or sum(amount) <> 0
), of_all as (
  select workspace_id, kind, key, bucket, sum(n) filter (where team_id = '*') as told,
    sum(n) filter (where team_id <> '*') as n
  from tallies where kind <> 'partner' group by 1, 2, 3, 4
)
select 'not told' as what, to_jsonb(d) as row from (select * from counted except select * from told) d
union all
select 'not counted', to_jsonb(d) from (select * from told except select * from counted) d
union all
select 'not the sum of all teams', to_jsonb(d) from of_all d where coalesce(told, 0) <> coalesce(n, 0)`;
