drop function if exists app.approvals_of_tokens;

-- The approvals of what agents have asked for with these tokens, and nobody has decided: action requests and questions.
create function app.approvals_of_tokens(p_workspace_id text, p_token_root_ids text[]) returns setof text
  language sql stable set search_path = public, pg_temp as $$
  select a.approval_id from approvals a where a.workspace_id = p_workspace_id
    and a.question_token_id = any (p_token_root_ids) and a.question_id is not null and a.status = 'pending'
  union all
  select r.approval_id from action_requests r where r.workspace_id = p_workspace_id
    and r.token_root_id = any (p_token_root_ids) and r.status = 'pending'
$$;
revoke execute on function app.approvals_of_tokens from public;
grant execute on function app.approvals_of_tokens to consigliere_app;
