drop function if exists app.check_connectors_now;

-- Has the connectors of a kind checked at once that a whole service has, whichever workspace answers for them.
create function app.check_connectors_now(p_kind text) returns void
  language sql security definer set search_path = public, pg_temp as $$
  update connectors set next_check_at = now() where kind = p_kind and next_check_at > now()
$$;
alter function app.check_connectors_now owner to consigliere_system;
revoke execute on function app.check_connectors_now from public;
grant execute on function app.check_connectors_now to consigliere_app;
