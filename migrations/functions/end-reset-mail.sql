drop function if exists app.end_reset_mail;

-- The link was mailed, or never will be: its token is forgotten.
create function app.end_reset_mail(p_reset_id text) returns void
  language sql security definer set search_path = public, pg_temp as
  'update password_resets set sealed_token = null where reset_id = p_reset_id';
alter function app.end_reset_mail owner to consigliere_system;
revoke execute on function app.end_reset_mail from public;
grant execute on function app.end_reset_mail to consigliere_app;
