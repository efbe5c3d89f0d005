drop function if exists app.account_mail;

-- A mail to the owner of an account that is still to be sent.
create function app.account_mail(p_mail_id text)
  returns table (user_id text, email text, display_name text, notice text, details jsonb, at timestamptz)
  language sql stable security definer set search_path = public, pg_temp as $$
  select u.user_id, u.email, u.display_name, a.notice, a.details, a.at
  from account_mails a join users u on u.user_id = a.user_id where a.mail_id = p_mail_id
$$;
alter function app.account_mail owner to consigliere_system;
revoke execute on function app.account_mail from public;
grant execute on function app.account_mail to consigliere_app;
