drop function if exists app.delete_users;

-- Deletes those of these users who are members of no workspace any more, with all that is kept about them. For
-- app.delete_workspace alone.
create function app.delete_users(p_user_ids text[]) returns bigint
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  orphaned constant text[] := array(select u.user_id from users u where u.user_id = any (p_user_ids)
    and not exists (select from members m where m.user_id = u.user_id));
  kept_about record;
  deleted bigint;
begin
  -- What belongs to an account and to no workspace; what does so by `on delete cascade` goes by itself.
  for kept_about in
    select k.conrelid::regclass as name, a.attname as user_column
    from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where k.contype = 'f' and k.confrelid = 'users'::regclass and k.confdeltype = 'a'
      and k.conrelid not in (select ('public.' || quote_ident(t.name))::regclass from app.tenant_tables() t)
  loop
    execute format('delete from %s where %I = any ($1)', kept_about.name, kept_about.user_column) using orphaned;
  end loop;
  delete from users u where u.user_id = any (orphaned);
  get diagnostics deleted = row_count;
  return deleted;
end $$;
revoke execute on function app.delete_users from public;
do $$
begin
  execute format('grant execute on function app.delete_users to %I', current_user);
end $$;
alter function app.delete_users owner to consigliere_system;
