drop function if exists app.discover_connectors;

-- Adds the connectors of destinations and partners that are there without one, such as those from before connectors were
-- known. Registering a destination adds its connector in the same transaction; this is for the start of a process. It
-- names destinations as `destinationName` of the webhooks does: what else it knows of them is an admin's matter.
create function app.discover_connectors() returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into connectors (workspace_id, connector_id, kind, subject, name, reason, next_check_at)
  select f.workspace_id, app.new_id('con'), f.kind, f.subject, f.name, 'It has not been checked yet.',
    -- Spread over half an hour, as they will be from then on.
    now() + random() * interval '30 minutes'
  from (
    select d.workspace_id, 'webhook' as kind, d.destination_id as subject,
      case when d.description in ('', d.url) then 'Webhook destination ' || d.destination_id else d.description end as name
    from webhook_destinations d where d.deleted_at is null
    union all
    select p.workspace_id, 'partner', '', 'Partner' from partner_secrets p
  ) f
  where not exists (select from connectors c
    where c.workspace_id = f.workspace_id and c.kind = f.kind and c.subject = f.subject)
  on conflict do nothing;
end $$;
alter function app.discover_connectors owner to consigliere_system;
revoke execute on function app.discover_connectors from public;
grant execute on function app.discover_connectors to consigliere_app;
