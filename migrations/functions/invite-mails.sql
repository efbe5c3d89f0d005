drop function if exists app.invite_mails;

-- How many invites were mailed to this address in the last 24 hours, by any workspace, and when the first of them was.
-- Until the transaction ends nobody else can count for the same address.
create function app.invite_mails(p_email text) returns table (n int, first_at timestamptz)
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(p_email, 6));
  return query select count(*)::int, min(at) from invites i, unnest(i.mails) at
    where i.email = p_email and at > now() - interval '24 hours';
end $$;
alter function app.invite_mails owner to consigliere_system;
revoke execute on function app.invite_mails from public;
grant execute on function app.invite_mails to consigliere_app;
