drop function if exists app.resume_parked_work;

-- Makes all work due that is parked because of this error, in every workspace: what it waited for is there again. While a
-- workspace is killed such work parks itself again.
create function app.resume_parked_work(p_code text) returns void
  language sql security definer set search_path = public, pg_temp as $$
  update work_items set due_at = now() where due_at = 'infinity' and not claimed and last_error->>'code' = p_code
$$;
alter function app.resume_parked_work owner to consigliere_system;
revoke execute on function app.resume_parked_work from public;
grant execute on function app.resume_parked_work to consigliere_app;
