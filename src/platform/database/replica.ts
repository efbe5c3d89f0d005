import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Config } from '../config/config.js';
import type { RequestContext } from '../kernel/request-context.js';
import { StartRefused } from '../kernel/start-refused.js';
import type { Statement } from './batch.js';
import { APP_ROLE, AS_APP_ROLE, CONNECTIONS, ROW_TYPES, SESSION } from './data-source.js';
import { DatabaseAddress } from './database-address.js';
import { applySettings } from './sessions.js';
import { type Scope, scopeSettings, UnitOfWork } from './unit-of-work.js';
import { positionIn, type WalPosition } from './wal-position.js';

const CHECK = /* sql */ `
select
  current_user = $1 as as_app,
  (select bool_or(rolsuper or rolbypassrls) from pg_roles where rolname in (current_user, session_user)) as can_bypass,
  array(select rolname::text from pg_roles where rolname not in ($1, session_user)
    and pg_has_role(session_user, oid, 'member') order by 1) as other_roles,
  exists (select 1 from pg_class c join pg_roles r on r.oid = c.relowner
    where r.rolname in (current_user, session_user) and c.relnamespace = 'public'::regnamespace) as owns,
  array(select c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity
        and exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polname = 'isolation')
        and not exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polpermissive
          and p.polroles <> array['consigliere_system'::regrole::oid]
          and coalesce(pg_get_expr(p.polqual, c.oid), pg_get_expr(p.polwithcheck, c.oid))
            not like '%app.workspace_id%')) order by 1) as open_tables
`;

/** Answers the rows of a statement. */
interface Asked {
  query(text: string, values: unknown[]): Promise<unknown>;
}

interface Found {
  as_app: boolean;
  can_bypass: boolean;
  other_roles: string[];
  owns: boolean;
  open_tables: string[];
}

/**
 * Refuses to go on when the isolation of workspaces could be bypassed: wrong role, a role that owns tables or skips
 * row-level security, a login that can become any other, or a tenant table whose policies are missing, not forced, or open.
 */
export async function assertIsolation(database: Asked): Promise<void> {
  const [found] = (await database.query(CHECK, [APP_ROLE])) as [Found];
  const faults = [
    !found.as_app && `the connection does not work as ${APP_ROLE}`,
    found.can_bypass && `${APP_ROLE}, or its login, can bypass row-level security`,
    found.owns && `${APP_ROLE}, or its login, owns tables`,
    found.other_roles.length > 0 && `the login can become ${found.other_roles.join(', ')}`,
    found.open_tables.length > 0 && `without forced isolation: ${found.open_tables.join(', ')}`,
  ].filter(Boolean);
  if (faults.length > 0)
    throw new StartRefused(
      `Workspaces are not isolated in this database: ${faults.join('; ')}. Undo what was changed by hand; docs/security.md says what must hold.`,
    );
}

/** So often it is looked where both servers are. */
const LOOK_MS = 250;
/** A replica that has not answered for so long is not asked before it answers a look again. */
const SILENT_MS = 1_000;
const CONNECT_MS = 1_000;
/** What takes longer there is read from the primary. */
const READ_MS = 2_000;
/** After a read that failed it is not asked for so long, and twice as long after each further one, though it answers looks. */
const REST_MS = { first: 1_000, most: 60_000 };

/**
 * Where the primary is, as far as a replica can have followed. The first process to find a new timeline notes it in the database:
 * a replica cannot tell its own, and one that has not followed the new primary may have come further on the old timeline.
 */
const FLUSHED = /* sql */ `
with here as (
  select left(pg_walfile_name(lsn), 8) as timeline, lsn from pg_current_wal_flush_lsn() as lsn
), noted as (
  update wal_timeline w set timeline = here.timeline from here where w.timeline <> here.timeline
)
select timeline, lsn::text as lsn from here`;

/** Where the replica is; no row of a server that is none. */
const REPLAYED: Statement = {
  text: /* sql */ `
    select timeline, pg_last_wal_replay_lsn()::text as lsn from wal_timeline where pg_is_in_recovery()`,
};

/** A position, and when it was asked for. */
interface Sighting {
  at: number;
  position: string;
}

/** Why the primary answers: the replica does not answer, is later than allowed, or lacks what the caller has changed. */
type Refusal = 'down' | 'late' | 'behind';

/**
 * The streaming replica of DATABASE_READ_URL. Every read there asks in the same message how far the replica has come, so that
 * its answer counts only if it shows what the caller has seen, and is no later than allowed. What was known before it only
 * decides whether asking is worth it.
 */
@Injectable()
export class Replica implements OnApplicationBootstrap, OnApplicationShutdown {
  /** How many reads the replica answered, and how many the primary for which reason. */
  readonly reads: Record<Refusal | 'replica', number> = { replica: 0, behind: 0, late: 0, down: 0 };
  readonly #lagMs: number;
  readonly #end = new AbortController();
  /** Where the primary was, oldest first; none is older than the replica may be late. */
  #primary: Sighting[] = [];
  #replica: Sighting | undefined;
  #pool: pg.Pool | undefined;
  /** After failed reads: how long it rests, and until when. */
  #rest = { ms: 0, until: 0 };
  #told: Refusal | 'well' | undefined;

  constructor(
    private readonly address: DatabaseAddress,
    config: Config,
    private readonly logger: PinoLogger,
  ) {
    this.#lagMs = config.databaseReadLagSeconds * 1_000;
  }

  /** Whether there is one, well or not. */
  get isConfigured(): boolean {
    return this.address.readUrl !== undefined;
  }

  /** How late the replica is at most, in seconds; undefined while that is not known. */
  get lagSeconds(): number | undefined {
    const replica = this.#replica;
    const seen = replica && this.#primary.findLast(({ position }) => position <= replica.position);
    return seen && (performance.now() - seen.at) / 1_000;
  }

  onApplicationBootstrap(): void {
    const { readUrl, loginUrl } = this.address;
    if (readUrl === undefined) return;
    // Local: a primary that waits for a replica to confirm must not keep each look waiting.
    const settings = { ...AS_APP_ROLE, synchronous_commit: 'local' };
    const primary = poolOf(loginUrl, 1, (client) => applySettings(client, settings));
    const replica = poolOf(readUrl, 1, prepareReader);
    void this.regularly(primary, FLUSHED, (seen) => {
      const since = performance.now() - this.#lagMs;
      this.#primary = [...this.#primary.filter(({ at }) => at >= since), ...(seen ? [seen] : [])];
    });
    void this.regularly(replica, REPLAYED.text, (seen, error) => {
      if (seen) this.#replica = seen;
      else this.leave();
      this.tell(error);
    });
  }

  onApplicationShutdown(): void {
    this.#end.abort();
    this.leave();
  }

  /** The rows of these reads; undefined where the primary has to answer them, and all that the request reads after them. */
  async read(
    scope: Scope,
    statements: Statement[],
    context: RequestContext,
  ): Promise<unknown[][] | undefined> {
    const after = context.readsAfter!;
    const refusal = this.refusal(after);
    if (refusal) return this.refused(refusal, context);
    context.addRoundTrips(1);
    const at = performance.now();
    try {
      const [seen, ...rows] = await this.ask(scope, [REPLAYED, ...statements]);
      const position = positionIn(seen as WalPosition[]) ?? '';
      // Looks and other reads may have overtaken this one.
      if (this.#replica && at > this.#replica.at) this.#replica = { at, position };
      const lacks = this.lackOf(position, after);
      if (lacks) return this.refused(lacks, context);
      context.readReplica = true;
      this.reads.replica++;
      this.#rest.ms = 0;
      return rows;
    } catch (error) {
      // A statement that the server itself ended, as a standby does with reads that hold up what it receives, says nothing of the next.
      if (!(error instanceof pg.DatabaseError) || error.code?.startsWith('57P')) {
        this.rest();
        this.leave();
      }
      return this.refused('down', context);
    }
  }

  private refused(refusal: Refusal, context: RequestContext): undefined {
    context.readsAfter = undefined;
    this.reads[refusal]++;
  }

  private refusal(after: string): Refusal | undefined {
    const replica = this.#replica;
    const now = performance.now();
    if (!replica || now - replica.at > SILENT_MS || now < this.#rest.until) return 'down';
    return this.lackOf(replica.position, after);
  }

  /** What who has come to this position lacks: something old enough to be there, or what the caller has changed. */
  private lackOf(position: string, after: string): 'late' | 'behind' | undefined {
    const since = performance.now() - this.#lagMs;
    const oldest = this.#primary.find(({ at }) => at >= since);
    if (!oldest || position < oldest.position) return 'late';
    return position < after ? 'behind' : undefined;
  }

  private ask(scope: Scope, statements: Statement[]): Promise<unknown[][]> {
    this.#pool ??= poolOf(this.address.readUrl!, CONNECTIONS, prepareReader);
    return using(this.#pool, READ_MS, (client) =>
      new UnitOfWork(scope, client, [{ text: 'begin read only' }, scopeSettings(scope)]).whole(statements),
    );
  }

  /** Reads that were under way together count as one. */
  private rest(): void {
    const now = performance.now();
    if (now < this.#rest.until) return;
    const ms = Math.min(REST_MS.most, this.#rest.ms * 2 || REST_MS.first);
    this.#rest = { ms, until: now + ms };
  }

  /** Until it answers a look again. Its connections may wait for what never comes, so they end with it. */
  private leave(): void {
    this.#replica = undefined;
    this.#pool?.end().catch(() => undefined);
    this.#pool = undefined;
  }

  private async regularly(
    pool: pg.Pool,
    text: string,
    take: (seen: Sighting | undefined, error?: unknown) => void,
  ): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const at = performance.now();
      try {
        const { rows } = await using(pool, SILENT_MS, (client) => client.query<WalPosition>(text));
        const position = positionIn(rows);
        if (position === undefined) throw new Error('DATABASE_READ_URL leads to a server that is no replica');
        take({ at, position });
      } catch (error) {
        take(undefined, error);
      }
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
    pool.end().catch(() => undefined);
  }

  /** Says it once when reads go elsewhere than before. */
  private tell(error: unknown): void {
    const state = this.refusal('') ?? 'well';
    if (state === this.#told || this.#primary.length === 0 || this.#end.signal.aborted) return;
    this.#told = state;
    if (state === 'well') this.logger.info('reads go to the replica');
    else this.logger.warn({ err: error }, `reads go to the primary: the replica is ${state}`);
  }
}

function poolOf(url: string, max: number, onConnect: (client: pg.ClientBase) => Promise<void>): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: 'consigliere replica',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: ROW_TYPES,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, whatever its types say
    onConnect,
  });
  // A connection that breaks fails the read that it serves, and no other.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** As the connections to the primary, and held to the same: what answers there may be another server tomorrow. */
async function prepareReader(client: pg.ClientBase): Promise<void> {
  await applySettings(client, { ...SESSION, statement_timeout: String(READ_MS) });
  await assertIsolation({
    query: async (text, values) => (await client.query(text, values)).rows,
  });
}

/** @throws when it takes longer than this; the connection then ends */
async function using<T>(
  pool: pg.Pool,
  limitMs: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const connecting = pool.connect();
  const client = await within(CONNECT_MS, connecting).catch((error: unknown) => {
    connecting.then(
      (late) => late.release(true),
      () => undefined,
    );
    throw error;
  });
  try {
    const result = await within(limitMs, work(client));
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
