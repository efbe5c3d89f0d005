import { newId } from '../../../../src/platform/kernel/ids.js';
import { Client } from '../../../support/client.js';
import type { ServiceProcess } from '../../../support/processes.js';
import type { Stage, Tenant } from './stage.js';

/** A request that causes one event, and what came back; undefined when the connection ended before an answer. */
export interface Post {
  externalId: string;
  status: number | undefined;
  retryAfter: string | null;
}

/** Logs revenue over HTTP, from an address of its own: each may do so 30 times a minute. */
export async function postRevenue(process: ServiceProcess, { token }: Tenant): Promise<Post> {
  const externalId = newId('req');
  const event = { amount: 1, currency: 'EUR', source: 'test', externalId };
  const answer = await new Client(process.url, token).post('/revenue-events', event).catch(() => undefined);
  return { externalId, status: answer?.status, retryAfter: answer?.headers.get('retry-after') ?? null };
}

export interface PostAccount {
  posts: number;
  /** By status; `none` is a lost answer. */
  answers: Record<string, number>;
  /** Answered with success, but no row or no event is there. */
  missing: number;
  /** Rows, answered or not, that have not exactly one event; and events without a row. */
  unequal: number;
  /** Rows whose answer was lost. */
  committedUnheard: number;
}

/** Holds every request against the rows and the events that it left behind. */
export async function accountPosts({ service }: Stage, tenant: Tenant, posts: Post[]): Promise<PostAccount> {
  const rows = await service.rows<{ external_id: string | null; events: number }>(
    `select r.external_id, count(e.event_id)::int as events
     from (select * from revenue_events where workspace_id = $1) r
     full join (select event_id, body::jsonb->'payload'->>'eventId' as revenue_id from webhook_events
       where workspace_id = $1) e on e.revenue_id = r.event_id
     group by r.event_id, r.external_id`,
    [tenant.workspaceId],
  );
  const events = new Map(rows.map((row) => [row.external_id, row.events]));
  const answers: Record<string, number> = {};
  for (const { status } of posts) {
    const name = String(status ?? 'none');
    answers[name] = (answers[name] ?? 0) + 1;
  }
  return {
    posts: posts.length,
    answers,
    missing: posts.filter(({ status, externalId }) => status === 201 && !events.has(externalId)).length,
    unequal: rows.filter((row) => row.external_id === null || row.events !== 1).length,
    committedUnheard: posts.filter(({ status, externalId }) => status !== 201 && events.has(externalId))
      .length,
  };
}
