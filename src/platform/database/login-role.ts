import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { StartRefused } from '../kernel/start-refused.js';
import { APP_ROLE, AS_APP_ROLE } from './data-source.js';
import { mayNotCreateRoles } from './database-fault.js';
import { BOUNDED, openConnection } from './sessions.js';

/** Who the program logs in as to serve requests. */
interface LoginRole {
  name: string;
  password: string;
}

/** Any number no other program on the server is likely to lock: 'conl' in ASCII. */
const LOGIN_LOCK = 0x636f6e6c;

/**
 * What PostgreSQL answers when the role is missing, has another password, is not let in by pg_hba.conf, may not
 * connect to this database or may not become APP_ROLE.
 */
const REFUSALS = new Set(['28P01', '28000', '42501']);

/** Poolers have one code for everything. */
const isRefusal = ({ code = '', message }: pg.DatabaseError) =>
  REFUSALS.has(code) || (code === '08P01' && /no such user|authentication/i.test(message));

/**
 * The address of the database for the connections that serve requests: they log in as a role that can become APP_ROLE
 * and nothing else, so that a statement that was smuggled in cannot become the owner by `set role`. The role is
 * made, or its password set again, as the owner when its login fails: the first time, that is.
 *
 * Name and password follow from SECRETS_KEY, so all processes of a service agree without a word. Roles belong to the
 * whole server: the name tells databases, and services with other keys, apart.
 * @throws when the role cannot be made or the server does not let it in
 */
export async function loginUrl(ownerUrl: string, secretsKey: Buffer): Promise<string> {
  const role = loginRole(ownerUrl, secretsKey);
  const url = withLogin(ownerUrl, role);
  if (!(await refusal(url))) return url;
  await provide(ownerUrl, role);
  const still = await refusal(url);
  if (!still) return url;
  throw new StartRefused(
    `PostgreSQL does not let the service log in as the role ${role.name}, which it made for itself (${still.message}). Allow it in the server's pg_hba.conf; a pooler in between must look users up in the server (in pgbouncer: auth_user and auth_query).`,
    { cause: still },
  );
}

/** The address of a replica with the login of its primary; nothing is asked of either. */
export function replicaLoginUrl(readUrl: string, ownerUrl: string, secretsKey: Buffer): string {
  return withLogin(readUrl, loginRole(ownerUrl, secretsKey));
}

function withLogin(address: string, role: LoginRole): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  url.pathname = `/${encodeURIComponent(databaseOf(address))}`;
  // Of two places for a name, the driver prefers this one; it also serves an address without a host.
  url.searchParams.set('user', role.name);
  url.searchParams.set('password', role.password);
  return url.href;
}

const databaseOf = (url: string) => new pg.Client({ connectionString: url }).database ?? '';

function loginRole(ownerUrl: string, secretsKey: Buffer): LoginRole {
  const database = databaseOf(ownerUrl);
  const derived = (purpose: string) =>
    createHmac('sha256', secretsKey).update(`database login ${purpose}\n${database}`);
  return {
    name: `consigliere_login_${derived('name').digest('hex').slice(0, 16)}`,
    password: derived('password').digest('base64url'),
  };
}

/** Logs in as the program does; answers why it may not, undefined if it may. */
async function refusal(url: string): Promise<Error | undefined> {
  try {
    const client = await openConnection(url, 'consigliere login', { settings: AS_APP_ROLE });
    await client.end();
    return undefined;
  } catch (error) {
    if (error instanceof pg.DatabaseError && isRefusal(error)) return error;
    throw error;
  }
}

/** Makes the role, or sets right what keeps it from logging in; safe to be done by several processes at once. */
async function provide(ownerUrl: string, { name, password }: LoginRole): Promise<void> {
  const owner = await openConnection(ownerUrl, 'consigliere login', BOUNDED);
  try {
    await owner.query('begin');
    await owner.query('select pg_advisory_xact_lock($1)', [LOGIN_LOCK]);
    const { rowCount } = await owner.query('select from pg_roles where rolname = $1', [name]);
    const login = `login password ${pg.escapeLiteral(scramVerifier(password))}`;
    // NOINHERIT: after `set role none` it has no right at all.
    await owner.query(
      rowCount === 0
        ? `create role ${name} noinherit nosuperuser nobypassrls nocreatedb nocreaterole ${login}`
        : `alter role ${name} ${login}`,
    );
    await owner.query(`grant ${APP_ROLE} to ${name}`);
    const { rows } = await owner.query<{ database: string; open: boolean }>(
      `select current_database() as database, has_database_privilege($1, current_database(), 'connect') as open`,
      [name],
    );
    const [{ database, open }] = rows as [{ database: string; open: boolean }];
    if (!open) await owner.query(`grant connect on database ${pg.escapeIdentifier(database)} to ${name}`);
    await owner.query('commit');
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error;
    throw new StartRefused(mayNotCreateRoles(owner.user ?? ''), { cause: error });
  } finally {
    await owner.end();
  }
}

/** What PostgreSQL keeps of a password (RFC 5803), so that the password itself stands in no log of the server. */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}
