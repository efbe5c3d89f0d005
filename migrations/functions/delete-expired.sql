drop function if exists app.delete_expired;
-- What it was called before; an earlier program that comes back applies its own again.
drop function if exists app.let_go;
delete from sql_functions where name = 'let-go';

-- Deletes up to p_limit rows of each kind whose time is over, by the workspace's setting or the default, and answers how
-- many there were of each. p_bounds holds the default, the fewest and the most days of each subject. What somebody has
-- locked is left for the next run.
create function app.delete_expired(p_limit int, p_bounds jsonb) returns table (subject text, deleted bigint)
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  subject := 'deliveries';
  delete from webhook_deliveries where delivery_id in (
    select d.delivery_id from workspaces w cross join lateral (
      select e.delivery_id from webhook_deliveries e
      where e.workspace_id = w.workspace_id and e.status in ('delivered', 'dead')
        and e.created_at < now() - app.retention_days(w.retention, 'deliveries', p_bounds)
      order by e.created_at limit p_limit for update skip locked) d
    limit p_limit);
  get diagnostics deleted = row_count;
  return next;

  -- An event is what its deliveries send, so it goes after the last of them.
  subject := 'events';
  delete from webhook_events where event_id in (
    select d.event_id from workspaces w cross join lateral (
      select e.event_id from webhook_events e
      where e.workspace_id = w.workspace_id
        and e.created_at < now() - app.retention_days(w.retention, 'deliveries', p_bounds)
        and not exists (select from webhook_deliveries x where x.event_id = e.event_id)
      order by e.created_at limit p_limit for update skip locked) d
    limit p_limit);
  get diagnostics deleted = row_count;
  return next;

  -- No window of a limit or a budget is longer than a month.
  subject := 'standing order uses';
  delete from standing_order_uses u using (
    select d.workspace_id, d.standing_order_id, d.work_packet_id from standing_orders o cross join lateral (
      select e.workspace_id, e.standing_order_id, e.work_packet_id from standing_order_uses e
      where e.workspace_id = o.workspace_id and e.standing_order_id = o.standing_order_id and e.at < now() - interval '62 days'
      order by e.at limit p_limit for update skip locked) d
    limit p_limit) old
  where u.workspace_id = old.workspace_id and u.standing_order_id = old.standing_order_id
    and u.work_packet_id = old.work_packet_id;
  get diagnostics deleted = row_count;
  return next;

  -- What is simulated over looks back a year; receipts keep what it takes to make a decision again.
  subject := 'policy decisions';
  delete from policy_decisions u using (
    select d.workspace_id, d.at, d.decision_id from workspaces w cross join lateral (
      select e.workspace_id, e.at, e.decision_id from policy_decisions e
      where e.workspace_id = w.workspace_id and e.at < now() - interval '400 days'
      order by e.at limit p_limit for update skip locked) d
    limit p_limit) old
  where u.workspace_id = old.workspace_id and u.at = old.at and u.decision_id = old.decision_id;
  get diagnostics deleted = row_count;
  return next;

  -- Nothing is tried for longer than some days.
  subject := 'attempts outside';
  delete from outside_attempts u using (
    select d.workspace_id, d.work_packet_id, d.revert_id, d.attempt, d.event from workspaces w cross join lateral (
      select e.workspace_id, e.work_packet_id, e.revert_id, e.attempt, e.event from outside_attempts e
      where e.workspace_id = w.workspace_id and e.at < now() - interval '400 days'
      order by e.at limit p_limit for update skip locked) d
    limit p_limit) old
  where u.workspace_id = old.workspace_id and u.work_packet_id = old.work_packet_id and u.revert_id = old.revert_id
    and u.attempt = old.attempt and u.event = old.event;
  get diagnostics deleted = row_count;
  return next;

  -- What an activation went by stays, since the order names it.
  subject := 'eval runs';
  delete from eval_runs r using (
    select d.workspace_id, d.eval_run_id from workspaces w cross join lateral (
      select e.workspace_id, e.eval_run_id from eval_runs e where e.workspace_id = w.workspace_id
        and e.occasion = 'request' and e.created_at < now() - interval '400 days'
      order by e.created_at limit p_limit) d
    limit p_limit) old
  where r.workspace_id = old.workspace_id and r.eval_run_id = old.eval_run_id;
  get diagnostics deleted = row_count;
  return next;

  -- The tiles look back at sixty days.
  subject := 'tallies';
  delete from tallies where ctid = any (array(
    select d.ctid from workspaces w cross join lateral (
      select e.ctid from tallies e
      where e.workspace_id = w.workspace_id and e.bucket > '-infinity'
        and e.bucket at time zone 'UTC' < (now() - interval '100 days') at time zone 'UTC'
      order by e.bucket at time zone 'UTC' limit p_limit for update skip locked) d
    limit p_limit));
  get diagnostics deleted = row_count;
  return next;

  subject := 'acknowledged signals';
  delete from signals where signal_id in (
    select d.signal_id from workspaces w cross join lateral (
      select e.signal_id from signals e where e.workspace_id = w.workspace_id
        and e.acknowledged_at < now() - app.retention_days(w.retention, 'signals', p_bounds)
      order by e.acknowledged_at limit p_limit for update skip locked) d
    limit p_limit);
  get diagnostics deleted = row_count;
  return next;

  subject := 'withdrawn signals';
  delete from signals where signal_id in (
    select d.signal_id from workspaces w cross join lateral (
      select e.signal_id from signals e where e.workspace_id = w.workspace_id
        and e.withdrawn_at < now() - app.retention_days(w.retention, 'signals', p_bounds)
      order by e.withdrawn_at limit p_limit for update skip locked) d
    limit p_limit);
  get diagnostics deleted = row_count;
  return next;

  subject := 'withdrawn documents';
  delete from documents where document_id in (
    select d.document_id from workspaces w cross join lateral (
      select e.document_id from documents e where e.workspace_id = w.workspace_id
        and e.withdrawn_at < now() - app.retention_days(w.retention, 'withdrawnDocuments', p_bounds)
      order by e.withdrawn_at limit p_limit for update skip locked) d
    limit p_limit);
  get diagnostics deleted = row_count;
  return next;

  -- An update can be sent again for five minutes; the figures of reports look back further.
  subject := 'partner updates';
  delete from partner_events u using (
    select d.workspace_id, d.partner_event_id from workspaces w cross join lateral (
      select e.workspace_id, e.partner_event_id from partner_events e where e.workspace_id = w.workspace_id
        and e.received_at < now() - app.retention_days(w.retention, 'partnerUpdates', p_bounds)
      order by e.received_at limit p_limit for update skip locked) d
    limit p_limit) old
  where u.workspace_id = old.workspace_id and u.partner_event_id = old.partner_event_id;
  get diagnostics deleted = row_count;
  return next;

  subject := 'tokens of the dashboard';
  delete from tokens where token_id in (
    select t.token_id from tokens t
    where t.session_id is not null and t.expires_at < now() - interval '1 day'
    order by t.expires_at limit p_limit for update skip locked);
  get diagnostics deleted = row_count;
  return next;

  subject := 'sessions';
  delete from sessions where session_id in (
    select s.session_id from sessions s where s.expires_at < now() - interval '90 days'
    order by s.expires_at limit p_limit for update skip locked);
  get diagnostics deleted = row_count;
  return next;

  -- Links work for half an hour, and are counted for an hour.
  subject := 'links for a new password';
  delete from password_resets where reset_id in (
    select r.reset_id from password_resets r where r.requested_at < now() - interval '1 day'
    order by r.requested_at limit p_limit for update skip locked);
  get diagnostics deleted = row_count;
  return next;

  -- Of an address that has signed in nothing is remembered after 30 days without a try.
  subject := 'tries to sign in';
  delete from sign_in_tries t using (
    select o.account, o.address from sign_in_tries o
    where o.tried_at < now() - interval '1 day'
      and coalesce(o.succeeded_at < now() - interval '30 days', true)
    order by o.tried_at limit p_limit for update skip locked) old
  where t.account = old.account and t.address = old.address;
  get diagnostics deleted = row_count;
  return next;

  subject := 'notifications';
  delete from notifications n using (
    select d.workspace_id, d.notification_id from workspaces w cross join lateral (
      select e.workspace_id, e.notification_id from notifications e
      where e.workspace_id = w.workspace_id and e.ended_at < now() - interval '30 days'
      order by e.ended_at limit p_limit for update skip locked) d
    limit p_limit) old
  where n.workspace_id = old.workspace_id and n.notification_id = old.notification_id;
  get diagnostics deleted = row_count;
  return next;

  -- So long a link says what became of it; no approval waits for longer unless a kill has stopped its clock.
  subject := 'links to decide by';
  delete from decision_links l using (
    select d.workspace_id, d.link_id from workspaces w cross join lateral (
      select e.workspace_id, e.link_id from decision_links e
      where e.workspace_id = w.workspace_id and e.created_at < now() - interval '90 days'
      order by e.created_at limit p_limit for update skip locked) d
    limit p_limit) old
  where l.workspace_id = old.workspace_id and l.link_id = old.link_id;
  get diagnostics deleted = row_count;
  return next;

  -- Whether connectors were well is shown for every check of a week, and counted for a month from their changes of status.
  subject := 'checks of connectors';
  delete from connector_checks h using (
    select d.workspace_id, d.connector_id, d.n from workspaces w cross join lateral (
      select e.workspace_id, e.connector_id, e.n from connector_checks e
      where e.workspace_id = w.workspace_id and not e.changed and e.checked_at < now() - interval '7 days'
      order by e.checked_at limit p_limit) d
    limit p_limit) old
  where h.workspace_id = old.workspace_id and h.connector_id = old.connector_id and h.n = old.n;
  get diagnostics deleted = row_count;
  return next;

  -- The last one says how the connector has been ever since.
  subject := 'changes of connectors';
  delete from connector_checks h using (
    select d.workspace_id, d.connector_id, d.n from workspaces w cross join lateral (
      select e.workspace_id, e.connector_id, e.n from connector_checks e
      join connectors c on c.workspace_id = e.workspace_id and c.connector_id = e.connector_id and e.n < c.last_change
      where e.workspace_id = w.workspace_id and e.changed and e.checked_at < now() - interval '100 days'
      order by e.checked_at limit p_limit) d
    limit p_limit) old
  where h.workspace_id = old.workspace_id and h.connector_id = old.connector_id and h.n = old.n;
  get diagnostics deleted = row_count;
  return next;

  -- Messages first, so many at a time; a conversation goes when none of its messages is left.
  subject := 'chat messages';
  delete from chat_messages m using (
    select d.workspace_id, d.conversation_id, d.position from workspaces w cross join lateral (
      select x.workspace_id, x.conversation_id, x.position
      from conversations c join chat_messages x on x.workspace_id = c.workspace_id and x.conversation_id = c.conversation_id
      where c.workspace_id = w.workspace_id and c.last_message_at < now() - interval '365 days'
      order by c.last_message_at limit p_limit for update skip locked) d
    limit p_limit) old
  where m.workspace_id = old.workspace_id and m.conversation_id = old.conversation_id and m.position = old.position;
  get diagnostics deleted = row_count;
  return next;

  subject := 'conversations';
  delete from conversations c using (
    select d.workspace_id, d.conversation_id from workspaces w cross join lateral (
      select e.workspace_id, e.conversation_id from conversations e
      where e.workspace_id = w.workspace_id and e.last_message_at < now() - interval '365 days'
        and not exists (select from chat_messages x
          where x.workspace_id = e.workspace_id and x.conversation_id = e.conversation_id)
      order by e.last_message_at limit p_limit for update skip locked) d
    limit p_limit) old
  where c.workspace_id = old.workspace_id and c.conversation_id = old.conversation_id;
  get diagnostics deleted = row_count;
  return next;

  subject := 'rates of tries to sign in';
  delete from sign_in_rates where account in (
    select r.account from sign_in_rates r where r.busy_until < now() - interval '1 hour'
    order by r.busy_until limit p_limit for update skip locked);
  get diagnostics deleted = row_count;
  return next;
end $$;
alter function app.delete_expired owner to consigliere_system;
revoke all on function app.delete_expired from public;
grant execute on function app.delete_expired to consigliere_app;
