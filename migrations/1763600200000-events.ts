import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Events for the outside: where they go, what they say, and every attempt to hand them over. They are written with the
 * act itself, in the one function that ends it. Wake-ups leave that function: a row says when it is due, and the bell
 * for it rings after the COMMIT (docs/decisions/0002).
 */
export class Events1763600200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(WEBHOOKS);
    await queryRunner.query(DELIVERY);
    await queryRunner.query(FINISH);
  }

  async down(): Promise<void> {
    throw new Error('this migration holds the record of deliveries: restore a backup instead');
  }
}

const WEBHOOKS = /* sql */ `
-- A deleted destination keeps its row, so that its deliveries can still be accounted for, but not its secret.
create table webhook_destinations (
  destination_id text primary key,
  workspace_id text not null references workspaces,
  description text not null,
  url text not null,
  events text[] not null,
  status text not null check (status in ('active', 'paused', 'gone')),
  api_version text not null,
  sealed_secret text,
  previous_sealed_secret text,
  previous_until timestamptz,
  consecutive_failures int not null default 0,
  probe_at timestamptz,
  last_delivery_at timestamptz,
  created_by jsonb not null,
  created_at timestamptz not null,
  deleted_at timestamptz,
  check ((status = 'paused') = (probe_at is not null)),
  check (sealed_secret is not null or deleted_at is not null)
);
create index webhook_destinations_of_workspace on webhook_destinations (workspace_id, created_at desc)
  where deleted_at is null;
select app.isolate('webhook_destinations', false), app.allow_system_reads('webhook_destinations');
grant select, insert, update on webhook_destinations to consigliere_app;

-- body holds the exact bytes that every attempt sends, to every destination. Neither events nor deliveries have a
-- reference to workspaces: their destination has one, and checking the same row again would cost every event.
create table webhook_events (
  event_id text primary key,
  workspace_id text not null,
  event text not null,
  request_id text not null,
  body text not null,
  created_at timestamptz not null
);
select app.isolate('webhook_events', false);
grant select, insert on webhook_events to consigliere_app;

-- due_at is when anyone may take the delivery up: the time of the next attempt, or the end of the lease of who has it.
-- Each taking counts takes up, and a result counts only under the take that made it; attempts holds what came of them.
create table webhook_deliveries (
  delivery_id text primary key,
  workspace_id text not null,
  destination_id text not null references webhook_destinations,
  event_id text not null references webhook_events,
  event text not null,
  status text not null check (status in ('pending', 'sending', 'delivered', 'failed', 'dead')),
  attempts jsonb not null default '[]',
  takes int not null default 0,
  due_at timestamptz,
  created_at timestamptz not null,
  check ((status in ('delivered', 'dead')) = (due_at is null))
);
create index webhook_deliveries_due on webhook_deliveries (destination_id, due_at) where due_at is not null;
create index webhook_deliveries_sending on webhook_deliveries (destination_id) where status = 'sending';
create index webhook_deliveries_newest on webhook_deliveries (workspace_id, destination_id, delivery_id desc);
select app.isolate('webhook_deliveries', false), app.allow_system_reads('webhook_deliveries');
grant select, insert, update on webhook_deliveries to consigliere_app;
`;

const DELIVERY = /* sql */ `
-- An id as the program makes them, for rows that only the database knows the number of.
create function app.new_id(prefix text) returns text
  language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  crockford constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  ms bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
  noise bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
  id text := '';
  digit int;
begin
  for digit in 0..9 loop
    id := substr(crockford, ((ms >> (5 * digit)) & 31)::int + 1, 1) || id;
  end loop;
  -- Bytes 6 and 8 of a random UUID hold its version and variant.
  foreach digit in array array[0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17] loop
    id := id || substr(crockford, (get_byte(noise, digit) & 31) + 1, 1);
  end loop;
  return prefix || '_' || id;
end $$;
grant execute on function app.new_id to consigliere_app;

-- Which destinations have a delivery due within p_ahead, and in how many milliseconds the first of it is. A paused one
-- has none before its probe; one that has ended may have what came in the moment of its end.
create function app.due_destinations(p_ahead interval)
  returns table (workspace_id text, destination_id text, due_in_ms double precision)
  language sql stable security definer set search_path = public, pg_temp as $$
  select d.workspace_id, d.destination_id,
    extract(epoch from greatest(first.due_at, d.probe_at) - now())::float8 * 1000
  from webhook_destinations d
  cross join lateral (
    select w.due_at from webhook_deliveries w
    where w.destination_id = d.destination_id and w.due_at is not null order by w.due_at limit 1
  ) first
  where greatest(first.due_at, d.probe_at) <= now() + p_ahead
$$;
alter function app.due_destinations owner to consigliere_system;

-- Takes up to p_room due deliveries of a destination, oldest first; never more than ten are in flight to it over all
-- processes, since they take in turn. A paused one lets a single delivery through when its probe is due.
-- A taking that is lost with the server's memory is only taken again, so it need not wait for the disk.
create function app.take_deliveries(p_workspace_id text, p_destination_id text, p_room int, p_lease interval,
    p_probe_every interval)
  returns table (delivery_id text, workspace_id text, destination_id text, event_id text, event text, request_id text,
    body text, takes int, sends int, url text, sealed_secret text, previous_sealed_secret text, probe boolean)
  language plpgsql set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  place webhook_destinations;
  room int;
begin
  set local synchronous_commit = off;
  perform pg_advisory_xact_lock(hashtextextended(p_destination_id, 2));
  select * into place from webhook_destinations d
    where d.workspace_id = p_workspace_id and d.destination_id = p_destination_id;
  if place.deleted_at is not null or place.status = 'gone' then
    -- What an act left here that committed in the moment of the end.
    update webhook_deliveries w set status = 'dead', due_at = null
      where w.workspace_id = p_workspace_id and w.destination_id = p_destination_id and w.due_at <= now();
    return;
  end if;
  if not found or place.probe_at > now() then return; end if;
  select least(p_room, 10 - count(*)) into room from webhook_deliveries w
    where w.destination_id = p_destination_id and w.status = 'sending' and w.due_at > now();
  if place.probe_at is not null then room := least(room, 1); end if;
  if room <= 0 then return; end if;
  return query
    with due as (
      select w.delivery_id from webhook_deliveries w
      where w.destination_id = p_destination_id and w.due_at <= now()
      order by w.due_at limit room for update skip locked
    ), taken as (
      update webhook_deliveries w set status = 'sending', takes = w.takes + 1, due_at = now() + p_lease
      from due where w.delivery_id = due.delivery_id
      returning w.delivery_id, w.event_id, w.event, w.takes, jsonb_array_length(w.attempts) as sends
    )
    select t.delivery_id, p_workspace_id, p_destination_id, t.event_id, t.event, e.request_id, e.body, t.takes, t.sends,
      place.url, place.sealed_secret, case when place.previous_until > now() then place.previous_sealed_secret end,
      place.probe_at is not null
    from taken t join webhook_events e on e.event_id = t.event_id;
  if found and place.probe_at is not null then
    update webhook_destinations d set probe_at = now() + p_probe_every
      where d.workspace_id = p_workspace_id and d.destination_id = p_destination_id;
  end if;
end $$;
grant execute on function app.take_deliveries to consigliere_app;

-- Rings for rows, one call for many: the job is only the bell, the row holds what is to be done and since when. So a
-- ring that a crash of the server forgets need not wait for the disk.
create function app.ring(jobs jsonb) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  set local synchronous_commit = off;
  perform graphile_worker.add_jobs(array(
    select (job->>'task', job->'payload', null, (job->>'runAt')::timestamptz, 3, job->>'key', null, null)::graphile_worker.job_spec
    from jsonb_array_elements(jobs) job));
end $$;
revoke execute on function app.ring from public;
grant execute on function app.ring to consigliere_app;
`;

const FINISH = /* sql */ `
drop function app.finish;

-- Ends an act in one round trip: notices, the stored answer, the receipts, then its events, which carry the head of the
-- chain. The head is locked late, so no client round trip happens while it is held; COMMIT travels behind this call.
-- Answers the destinations that have something to be delivered now.
create function app.finish(act jsonb) returns text[]
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  own_workspace constant text := act->>'workspaceId';
  receipt jsonb;
  event jsonb;
  head_seq bigint;
  head_hash text;
  next_hash text;
  wanted text[];
  reached text[] := '{}';
begin
  if act ? 'notices' then
    perform pg_notify('consigliere', notice) from jsonb_array_elements_text(act->'notices') notice;
  end if;
  if act ? 'answer' then
    insert into idempotency_keys as kept
      (workspace_id, member_id, key, fingerprint, status, content_type, headers, body, created_at)
    values (own_workspace, act->'answer'->>'memberId', act->'answer'->>'key', act->'answer'->>'fingerprint',
      (act->'answer'->>'status')::smallint, act->'answer'->>'contentType', act->'answer'->'headers',
      act->'answer'->>'body', now())
    on conflict (workspace_id, member_id, key) do update set
      fingerprint = excluded.fingerprint, status = excluded.status, content_type = excluded.content_type,
      headers = excluded.headers, body = excluded.body, created_at = excluded.created_at;
  end if;
  if act ? 'receipts' then
    select seq, hash into strict head_seq, head_hash from receipt_heads
      where workspace_id = own_workspace for update;
    for receipt in select value from jsonb_array_elements(act->'receipts') loop
      next_hash := encode(sha256(convert_to(head_hash || (receipt->>'body'), 'UTF8')), 'hex');
      head_seq := head_seq + 1;
      insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id,
        directive_id, team_id, capo, body, prev_hash, hash)
      values (own_workspace, head_seq, receipt->>'receiptId', to_timestamp((receipt->>'at')::float8 / 1000),
        receipt->>'actorType', receipt->>'actorId', receipt->>'action', receipt->>'entityType',
        receipt->>'entityId', receipt->>'directiveId', receipt->>'teamId', receipt->>'capo', receipt->>'body',
        head_hash, next_hash);
      head_hash := next_hash;
    end loop;
    update receipt_heads set seq = head_seq, hash = head_hash where workspace_id = own_workspace;
  end if;
  if act ? 'events' then
    for event in select value from jsonb_array_elements(act->'events') loop
      wanted := array(select destination_id from webhook_destinations
        where workspace_id = own_workspace and deleted_at is null and status <> 'gone'
          and case when event ? 'only' then destination_id = event->'only'->>'destinationId'
            else event->>'event' = any (events) end);
      continue when wanted = '{}';
      if head_seq is null then
        select seq, hash into strict head_seq, head_hash from receipt_heads where workspace_id = own_workspace;
      end if;
      insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
      values (event->>'eventId', own_workspace, event->>'event', event->>'requestId',
        (event->>'bodyStart') || ',"receiptHead":{"seq":' || head_seq || ',"hash":"' || head_hash || '"}}}', now());
      insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, due_at,
        created_at)
      select coalesce(event->'only'->>'deliveryId', app.new_id('dlv')), own_workspace, destination_id, event->>'eventId', event->>'event', 'pending', now(),
        now()
      from unnest(wanted) destination_id;
      reached := reached || wanted;
    end loop;
  end if;
  return reached;
end $$;
revoke execute on function app.finish from public;
grant execute on function app.finish to consigliere_app;
`;
