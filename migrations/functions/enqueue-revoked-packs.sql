drop function if exists app.enqueue_revoked_packs;

-- Enqueues the revocation of installed packs that their publishers revoke, in every workspace. p_revoked is a list of
-- { publisher, name, versions }; without versions it is every version.
create function app.enqueue_revoked_packs(p_revoked jsonb, p_limit int) returns void
  language sql security definer set search_path = public, pg_temp as $$
  insert into work_items (kind, id, workspace_id, queue, due_at)
  select distinct 'pack.revoke', p.pack_id, p.workspace_id, p.workspace_id, now()
  from jsonb_to_recordset(p_revoked) as r (publisher text, name text, versions text[])
  join skill_packs p on p.publisher = r.publisher and p.name = r.name
    and (r.versions is null or p.version = any (r.versions))
  where p.status in ('installing', 'installed', 'failed')
    and not exists (select from work_items w where w.kind = 'pack.revoke' and w.id = p.pack_id)
  limit p_limit
  on conflict do nothing
$$;
alter function app.enqueue_revoked_packs owner to consigliere_system;
revoke execute on function app.enqueue_revoked_packs from public;
grant execute on function app.enqueue_revoked_packs to consigliere_app;
