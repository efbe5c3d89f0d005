drop function if exists app.delete_workspace;

-- The one door through which a workspace leaves, receipts and all (docs/decisions/0013): only one whose owners asked for
-- it, were warned, and let the grace pass, and never the first. Each call deletes up to p_limit rows, so it can end at any
-- moment and go on with the next. Answers how many rows it deleted, that another call is `busy` with the workspace, that the
-- workspace is `gone` since another call deleted its last rows, and with the last call in `deleted` what is to be remembered.
create function app.delete_workspace(p_workspace_id text, p_limit int) returns jsonb
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  asked_in constant text := current_setting('app.workspace_id', true);
  asked_for constant text := current_setting('app.team_ids', true);
  deletion workspace_deletions;
  tenant_table text;
  users text[];
  n bigint;
  gone bigint := 0;
  facts jsonb;
  is_last boolean;
begin
  if not pg_try_advisory_xact_lock(hashtextextended(p_workspace_id, 7)) then
    return jsonb_build_object('rows', 0, 'busy', true);
  end if;
  -- As in any act, row-level security shows this workspace and nothing else.
  perform set_config('app.workspace_id', p_workspace_id, true), set_config('app.team_ids', '*', true);
  if not exists (select from workspaces w where w.workspace_id = p_workspace_id) then
    perform set_config('app.workspace_id', asked_in, true), set_config('app.team_ids', asked_for, true);
    return jsonb_build_object('rows', 0, 'busy', false, 'gone', true);
  end if;
  update workspace_deletions d set begun_at = coalesce(d.begun_at, now())
    where d.workspace_id = p_workspace_id and d.warned_at is not null and d.due_at <= now()
      and p_workspace_id <> app.first_workspace()
    returning * into deletion;
  if not found then
    raise insufficient_privilege using message = 'a workspace is deleted when its grace is over, and not before';
  end if;
  -- No act can add a receipt from here on.
  perform from receipt_heads h where h.workspace_id = p_workspace_id for update;
  foreach tenant_table in array array(select t.name from app.tenant_tables() t) loop
    exit when gone >= p_limit;
    -- These say how far the deletion is, and go with the workspace itself.
    continue when tenant_table in ('workspace_exports', 'workspace_deletions', 'receipt_heads', 'workspaces');
    if tenant_table = 'members' then
      with former as (
        delete from members where ctid = any (array(
          select ctid from members where workspace_id = p_workspace_id limit p_limit - gone)) returning user_id
      ) select array_agg(user_id), count(*) into users, n from former;
      perform app.delete_users(users);
    else
      execute format('delete from public.%1$I where ctid = any (array('
        'select ctid from public.%1$I where workspace_id = $1 limit $2))', tenant_table)
        using p_workspace_id, p_limit - gone;
      get diagnostics n = row_count;
    end if;
    gone := gone + n;
  end loop;
  is_last := gone < p_limit;
  if is_last then
    -- A row that somebody changed while its deletion waited has another ctid by now and was passed over. Whatever refers to
    -- the workspace would keep it; of the rest nothing may stay behind.
    foreach tenant_table in array array(select t.name from app.tenant_tables() t) loop
      continue when tenant_table in ('workspace_exports', 'workspace_deletions', 'receipt_heads', 'workspaces', 'members');
      execute format('delete from public.%I where workspace_id = $1', tenant_table) using p_workspace_id;
      get diagnostics n = row_count;
      gone := gone + n;
    end loop;
  end if;
  update workspace_deletions d set rows_deleted = d.rows_deleted + gone where d.workspace_id = p_workspace_id
    returning * into deletion;
  if is_last then
    select jsonb_build_object('name', w.name, 'requestedBy', deletion.requested_by,
        'requestedAt', app.ms(deletion.requested_at), 'rows', deletion.rows_deleted,
        'head', jsonb_build_object('seq', h.seq, 'hash', h.hash),
        'export', (select jsonb_build_object('exportId', e.export_id, 'sha256', e.sha256,
            'completedAt', app.ms(e.completed_at), 'head', jsonb_build_object('seq', e.head_seq, 'hash', e.head_hash))
          from workspace_exports e where e.workspace_id = p_workspace_id and e.completed_at is not null
          order by e.completed_at desc limit 1))
      into facts
      from workspaces w join receipt_heads h on h.workspace_id = w.workspace_id where w.workspace_id = p_workspace_id;
    delete from workspace_exports where workspace_id = p_workspace_id;
    delete from workspace_deletions where workspace_id = p_workspace_id;
    delete from receipt_heads where workspace_id = p_workspace_id;
    delete from workspaces where workspace_id = p_workspace_id;
  end if;
  perform set_config('app.workspace_id', asked_in, true), set_config('app.team_ids', asked_for, true);
  return jsonb_build_object('rows', gone, 'busy', false, 'deleted', facts);
end $$;
revoke execute on function app.delete_workspace from public;
grant execute on function app.delete_workspace to consigliere_app;
