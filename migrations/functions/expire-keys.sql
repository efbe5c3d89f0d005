drop function if exists app.expire_keys;

create function app.expire_keys() returns bigint
  language sql security definer set search_path = public, pg_temp as $$
  with gone as (
    delete from idempotency_keys where created_at < now() - interval '24 hours' returning 1
  ) select count(*) from gone
$$;
alter function app.expire_keys owner to consigliere_system;
revoke execute on function app.expire_keys from public;
grant execute on function app.expire_keys to consigliere_app;
