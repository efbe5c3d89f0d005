drop function if exists app.count_sign_in_try;

-- Counts a try to sign in as failed before anything is verified, so that of any number at a time no more than these are:
-- ten in 15 minutes for an account and an address, of which the tenth locks the pair for 15 minutes; and for an account over
-- all addresses fifty, then one each five minutes. The second bound does not hold for an address from which somebody has
-- signed in to the account within 30 days, so whoever tries from elsewhere cannot keep its owner out. p_account may be
-- nobody's.
create function app.count_sign_in_try(p_account text, p_address text, p_now timestamptz)
  returns table (retry_at timestamptz, is_last boolean, is_slowed boolean)
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  step constant interval := interval '5 minutes';
  pair sign_in_tries;
  recent timestamptz[];
begin
  is_last := false;
  insert into sign_in_tries as t (account, address, tried_at) values (p_account, p_address, p_now)
    on conflict (account, address) do update set tried_at = excluded.tried_at returning t.* into strict pair;
  is_slowed := pair.succeeded_at is null or pair.succeeded_at < p_now - interval '30 days';
  if pair.locked_until > p_now then
    retry_at := pair.locked_until;
    return next;
    return;
  end if;
  if is_slowed then
    insert into sign_in_rates as r (account, busy_until) values (p_account, p_now + step)
      on conflict (account) do update set busy_until = greatest(r.busy_until, p_now) + step
      where r.busy_until <= p_now + 49 * step;
    if not found then
      select r.busy_until - 49 * step into strict retry_at from sign_in_rates r where r.account = p_account;
      return next;
      return;
    end if;
  end if;
  recent := array(select f from unnest(pair.failed_at) f where f > p_now - interval '15 minutes') || p_now;
  is_last := cardinality(recent) >= 10;
  update sign_in_tries t set failed_at = recent,
    locked_until = case when is_last then p_now + interval '15 minutes' end
    where t.account = p_account and t.address = p_address;
  return next;
end $$;
alter function app.count_sign_in_try owner to consigliere_system;
revoke execute on function app.count_sign_in_try from public;
grant execute on function app.count_sign_in_try to consigliere_app;
