/** Periods of the calendar in the workspace's zone ($1), as they are at a time ($2); those that are not over have no end. */
export const CALENDAR = /* sql */ `
zone as (select app.workspace_zone($1) as name),
starts as (select name, app.window_start('day', $2::timestamptz, name) as today,
  app.window_start('week', $2::timestamptz, name) as week, app.window_start('month', $2::timestamptz, name) as month from zone),
calendar as (select p.* from (
  select *, app.window_start('day', today - interval '1 hour', name) as yesterday,
    app.window_start('week', week - interval '1 hour', name) as last_week,
    app.window_start('month', month - interval '1 hour', name) as last_month from starts) s
  cross join lateral (values ('today', today, null::timestamptz), ('yesterday', yesterday, today), ('this week', week, null),
    ('last week', last_week, week), ('this month', month, null), ('last month', last_month, month)) p (period, begins, ends))`;
