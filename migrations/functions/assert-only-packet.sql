drop function if exists app.assert_only_packet;

-- Fails unless what comes of a packet is what was foreseen as it left: the guardian, which the transaction has locked, is at the same
-- epoch, and the directive is being sent, belongs to the same team and has no other packet. The directive is locked.
create function app.assert_only_packet(p_workspace_id text, p_epoch bigint, p_directive_id text, p_work_packet_id text,
    p_team_id text)
  returns void language plpgsql set search_path = public, pg_temp as $$
begin
  perform from directives d where d.workspace_id = p_workspace_id and d.directive_id = p_directive_id
    and d.status = 'sending' and d.team_id is not distinct from p_team_id for no key update;
  if not found
    or not exists (select from guardians g where g.workspace_id = p_workspace_id and g.epoch = p_epoch)
    or exists (select from work_packets p where p.workspace_id = p_workspace_id and p.directive_id = p_directive_id
      and p.work_packet_id <> p_work_packet_id) then
    raise exception 'the directive of % has changed since it left', p_work_packet_id using errcode = 'CW005';
  end if;
end $$;
revoke execute on function app.assert_only_packet from public;
grant execute on function app.assert_only_packet to consigliere_app;
