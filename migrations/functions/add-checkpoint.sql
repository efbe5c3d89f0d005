drop function if exists app.add_checkpoint;

-- Adds a signed checkpoint of the workspace's own chain. It must name a receipt that is there: one that named another
-- would make a whole chain look cut.
create function app.add_checkpoint(p_workspace_id text, p_seq bigint, p_hash text, p_signed_at timestamptz,
    p_key_id text, p_signature text)
  returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if p_workspace_id is distinct from current_setting('app.workspace_id', true) then
    raise insufficient_privilege using message = 'a checkpoint is added in a transaction of its own workspace';
  end if;
  if not exists (select from receipts r where r.workspace_id = p_workspace_id and r.seq = p_seq and r.hash = p_hash) then
    raise insufficient_privilege using message = 'a checkpoint names a receipt that is in the chain';
  end if;
  insert into receipt_checkpoints (workspace_id, seq, hash, signed_at, key_id, signature)
  values (p_workspace_id, p_seq, p_hash, p_signed_at, p_key_id, p_signature)
  on conflict (workspace_id, seq) do nothing;
end $$;
revoke execute on function app.add_checkpoint from public;
grant execute on function app.add_checkpoint to consigliere_app;
