drop function if exists app.end_sign_in_try;

-- Takes a counted try back, since it has not failed; with p_succeeded somebody has signed in, and nothing of the pair counts
-- any more. A pair is locked by its tenth failure, so with one less it is not.
create function app.end_sign_in_try(p_account text, p_address text, p_at timestamptz, p_is_slowed boolean,
    p_succeeded boolean)
  returns void language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update sign_in_tries t set locked_until = null,
    failed_at = case when p_succeeded then '{}' else
      t.failed_at[:array_position(t.failed_at, p_at) - 1] || t.failed_at[array_position(t.failed_at, p_at) + 1:] end,
    succeeded_at = case when p_succeeded then p_at else t.succeeded_at end
    where t.account = p_account and t.address = p_address and (p_succeeded or p_at = any (t.failed_at));
  if p_is_slowed then
    update sign_in_rates r set busy_until = r.busy_until - interval '5 minutes' where r.account = p_account;
  end if;
end $$;
alter function app.end_sign_in_try owner to consigliere_system;
revoke execute on function app.end_sign_in_try from public;
grant execute on function app.end_sign_in_try to consigliere_app;
