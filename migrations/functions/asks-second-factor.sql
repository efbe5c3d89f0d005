drop function if exists app.asks_second_factor;

-- Whether a workspace with this setting asks a second factor of a member with this role.
create function app.asks_second_factor(p_setting text, p_role text) returns boolean language sql immutable
  return p_setting = 'everyone' or p_setting = 'required' and p_role in ('owner', 'admin');
grant execute on function app.asks_second_factor to consigliere_app, consigliere_system;
