drop function if exists app.end_account_mail;

create function app.end_account_mail(p_mail_id text) returns void
  language sql security definer set search_path = public, pg_temp as
  'delete from account_mails where mail_id = p_mail_id';
alter function app.end_account_mail owner to consigliere_system;
revoke execute on function app.end_account_mail from public;
grant execute on function app.end_account_mail to consigliere_app;
