import { randomBytes } from 'node:crypto';
import { EVENT_TYPES } from '../../../../src/features/events/events.js';
import { secretPurpose } from '../../../../src/features/webhooks/destination-secrets.js';
import { loadConfig } from '../../../../src/platform/config/config.js';
import { newId } from '../../../../src/platform/kernel/ids.js';
import { SecretBox } from '../../../../src/platform/secrets/secret-box.js';
import { type Service, type ServiceProcess, startService } from '../../../support/processes.js';
import { eventually } from '../../../support/test-app.js';
import type { TestDatabase } from '../../../support/test-database.js';
import { SECRET } from '../delivery-desk.js';
import { Arrivals, type Place } from './arrivals.js';

/** Events of these workspaces are accounted for together. */
export interface Tenant {
  workspaceId: string;
  token: string;
  places: Place[];
}

/** One api process, two workers and a receiver, each a thing of its own that can be killed. */
export interface Stage {
  service: Service;
  api: ServiceProcess;
  workers: [ServiceProcess, ServiceProcess];
  receiver: Arrivals;
  startWorker(): Promise<ServiceProcess>;
  /** A workspace with `places` destinations at the receiver, which get its every event. */
  tenant(...places: Place[]): Promise<Tenant>;
  register(workspaceId: string, url: string): Promise<string>;
  close(): Promise<void>;
}

/** Counts how often each delivery is claimed: its work, which knows, goes when it ends. */
const COUNT_CLAIMS = `
  create schema counting;
  create table counting.claims (delivery_id text primary key, claims int not null);
  create function counting.count_claim() returns trigger language plpgsql security definer as $$
  begin
    insert into counting.claims as counted values (new.id, 1)
    on conflict (delivery_id) do update set claims = counted.claims + 1;
    return null;
  end $$;
  create trigger count_claims after update of attempt on public.work_items for each row when (new.claimed)
    execute function counting.count_claim()`;

/** @param allow receivers besides the stage's own, as `host:port` */
export async function startStage({
  allow = [],
  database,
}: { allow?: string[]; database?: TestDatabase } = {}): Promise<Stage> {
  const receiver = await Arrivals.listen();
  const key = randomBytes(32).toString('base64');
  const secrets = new SecretBox(loadConfig({ NODE_ENV: 'test', SECRETS_KEY: key }));
  const service = await startService(
    1,
    {
      PROCESS_ROLE: 'api',
      SECRETS_KEY: key,
      OUTBOUND_ALLOW: [receiver.hostPort, ...allow].join(','),
      RATE_LIMIT_STORE: 'memory',
      LOG_LEVEL: 'warn',
    },
    database,
  );
  await service.rows(COUNT_CLAIMS);
  const startWorker = () => service.start({ PROCESS_ROLE: 'worker' });
  const register = async (workspaceId: string, url: string) => {
    const destinationId = newId('whk');
    await service.rows(
      `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
         sealed_secret, created_by, created_at)
       values ($1, $2, 'test', $3, $4, 'active', '2026-04', $5, '{}', now())`,
      [destinationId, workspaceId, url, EVENT_TYPES, secrets.seal(SECRET, secretPurpose(destinationId))],
    );
    return destinationId;
  };
  const workers = await Promise.all([startWorker(), startWorker()]);
  return {
    service,
    api: service.processes[0]!,
    workers,
    receiver,
    startWorker,
    register,
    async tenant(...places) {
      const workspace = await service.createWorkspace('enterprise');
      await Promise.all(places.map(({ url }) => register(workspace.workspaceId, url)));
      return { ...workspace, places };
    },
    async close() {
      await service.close();
      await receiver.close();
    },
  };
}

/** What became of every event: of each row that the acts left behind, and of each request that came. */
export interface Account {
  events: number;
  deliveries: number;
  /** Deliveries whose event never came to their place. */
  lost: number;
  /** Requests beyond the first for an event at its place. */
  twice: number;
  /** Requests with an event that no row tells of. */
  unknown: number;
  /** Deliveries that are not marked as delivered. */
  unsettled: number;
}

/** Waits until nothing of these tenants is due any more, then compares rows and requests, each by its event's id. */
export async function account({ service }: Stage, tenants: Tenant[], seconds = 30): Promise<Account> {
  const ids = [tenants.map(({ workspaceId }) => workspaceId)];
  await eventually(
    () =>
      service.rows<{ waiting: number }>(
        `select count(*)::int as waiting from work_items where workspace_id = any($1) and kind = 'webhook.deliver'`,
        ids,
      ),
    ([row]) => row!.waiting === 0,
    seconds,
  );
  const deliveries = await service.rows<{ event_id: string; url: string; status: string }>(
    `select w.event_id, d.url, w.status from webhook_deliveries w join webhook_destinations d using (destination_id)
     where w.workspace_id = any($1)`,
    ids,
  );
  const [counted] = await service.rows<{ events: number }>(
    `select count(*)::int as events from webhook_events where workspace_id = any($1)`,
    ids,
  );
  const places = new Map(tenants.flatMap((tenant) => tenant.places).map((place) => [place.url, place]));
  const known = new Set(deliveries.map(({ event_id, url }) => `${event_id} ${url}`));
  const came = [...places.values()].flatMap(({ url, arrivals }) =>
    [...arrivals].map(([eventId, times]) => ({ key: `${eventId} ${url}`, count: times.length })),
  );
  return {
    events: counted!.events,
    deliveries: deliveries.length,
    lost: deliveries.filter(({ event_id, url }) => !places.get(url)!.arrivals.has(event_id)).length,
    twice: came.reduce((sum, { count }) => sum + count - 1, 0),
    unknown: came.filter(({ key }) => !known.has(key)).length,
    unsettled: deliveries.filter(({ status }) => status !== 'delivered').length,
  };
}
