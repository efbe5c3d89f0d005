drop function if exists app.record_account_act;

-- Has an act on an account recorded in every workspace that it is an active member of but p_except, where it is recorded
-- already, and with p_mail_id tells its owner by mail. Answers the workspaces.
create function app.record_account_act(p_user_id text, p_action text, p_via text, p_details jsonb, p_at timestamptz,
    p_except text, p_mail_id text)
  returns setof text language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if p_mail_id is not null then
    insert into account_mails (mail_id, user_id, notice, details, at)
      values (p_mail_id, p_user_id, p_action, p_details, p_at);
    insert into work_items (kind, id, workspace_id, queue, due_at)
      values ('account.mail', p_mail_id, '', 'accounts', now());
  end if;
  return query
    with acts as (
      insert into account_acts (act_id, workspace_id, member_id, action, via, details, at)
      select app.new_id('act'), m.workspace_id, m.member_id, p_action, p_via, p_details, p_at from members m
      where m.user_id = p_user_id and m.status = 'active' and m.workspace_id is distinct from p_except
      returning act_id, workspace_id
    )
    insert into work_items (kind, id, workspace_id, queue, due_at)
    select 'account.record', act_id, workspace_id, workspace_id, now() from acts returning workspace_id;
end $$;
alter function app.record_account_act owner to consigliere_system;
revoke execute on function app.record_account_act from public;
grant execute on function app.record_account_act to consigliere_app;
