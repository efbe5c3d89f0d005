import pg from 'pg';
import { StartRefused } from '../kernel/start-refused.js';

/** PostgreSQL's own codes and those of the operating system, and errors of the driver that have none. */
interface Fault {
  code?: string;
  message: string;
}

const UNREACHABLE = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);

/**
 * Why the program cannot start with the database of DATABASE_URL, in a sentence with the remedy; undefined for an error
 * that is no fault of the address, the server or the user in it.
 */
export function databaseFault(error: unknown, url: string): StartRefused | undefined {
  const fault = causeOf(error);
  const message = fault && sentenceFor(fault, url);
  return message === undefined ? undefined : new StartRefused(message, { cause: error });
}

/** Whatever the driver said, below what TypeORM or we have wrapped around it. */
function causeOf(error: unknown): Fault | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('driverError' in error) return causeOf(error.driverError);
  return error;
}

function sentenceFor({ code = '', message }: Fault, url: string): string | undefined {
  const { host, port, user = '', database = '' } = new pg.Client({ connectionString: url });
  const at = host.startsWith('/') ? host : `${host}:${port}`;
  if (code === 'ECONNREFUSED' || code === 'ENOENT')
    return `No PostgreSQL server answers at ${at}. Start it or correct DATABASE_URL; without DATABASE_URL an embedded database is used.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `The host ${host} in DATABASE_URL cannot be found. Correct it; without DATABASE_URL an embedded database is used.`;
  if (UNREACHABLE.has(code) || /connection timeout|timeout expired/i.test(message))
    return `The PostgreSQL server at ${at} does not answer in time. Check the address in DATABASE_URL and the firewall in between.`;
  if (code === 'ECONNRESET' || /Connection terminated/i.test(message))
    return `What listens at ${at} closed the connection and may not be a PostgreSQL server. Correct the address in DATABASE_URL.`;
  if (code === '28P01')
    return `PostgreSQL at ${at} refused the password of the user ${user}. Correct it in DATABASE_URL, where characters such as @ : / # are written with percent-encoding.`;
  if (/password must be a(?: non-empty)? string/i.test(message))
    return `PostgreSQL at ${at} asks for a password and DATABASE_URL has none for the user ${user}. Add it: postgres://user:password@host:port/database.`;
  if (code === '28000')
    return `PostgreSQL at ${at} does not let the user ${user} in (${message}). Correct the user in DATABASE_URL, or allow it in the server's pg_hba.conf.`;
  if (code === '3D000')
    return `PostgreSQL at ${at} has no database ${database}. Create it (create database ${pg.escapeIdentifier(database)};) or correct the name in DATABASE_URL.`;
  if (code === '42501' && /role/i.test(message)) return mayNotCreateRoles(user);
  if (code === '42501')
    return `The user ${user} of DATABASE_URL lacks a right that the service needs (${message}). Let it own the database: alter database ${pg.escapeIdentifier(database)} owner to ${pg.escapeIdentifier(user)};`;
  if (code === '53300')
    return `PostgreSQL at ${at} has no connection left (${message}). End other programs that use it, or raise its max_connections.`;
  if (code.startsWith('57P'))
    return `PostgreSQL at ${at} is starting or ending (${message}). Start again when it is ready.`;
  if (/does not support SSL/i.test(message))
    return `PostgreSQL at ${at} does not speak TLS, which DATABASE_URL asks for. Remove ssl and sslmode from DATABASE_URL, or turn TLS on at the server.`;
  return undefined;
}

export function mayNotCreateRoles(user: string): string {
  return `The user ${user} of DATABASE_URL may not create roles, which the first start needs. Allow it as an administrator of the server: alter role ${pg.escapeIdentifier(user)} createrole;`;
}
