drop function if exists app.unsigned_chains;

-- Chains whose head should come under a signed checkpoint: 1,000 receipts or 60 seconds after the last. One that is being
-- deleted is not signed any more.
create function app.unsigned_chains(p_limit int) returns table (workspace_id text, seq bigint, hash text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select h.workspace_id, h.seq, h.hash
  from receipt_heads h
  left join lateral (
    select c.seq, c.signed_at from receipt_checkpoints c
    where c.workspace_id = h.workspace_id order by c.seq desc limit 1
  ) last on true
  where h.seq > coalesce(last.seq, 0)
    and (last.seq is null or h.seq - last.seq >= 1000 or last.signed_at < now() - interval '60 seconds')
    and not exists (select from workspace_deletions d where d.workspace_id = h.workspace_id and d.begun_at is not null)
  -- In no order: chains that cannot be signed, as their heads were changed by hand, must not stand before the others.
  order by random() limit p_limit
$$;
alter function app.unsigned_chains owner to consigliere_system;
revoke execute on function app.unsigned_chains from public;
grant execute on function app.unsigned_chains to consigliere_app;
