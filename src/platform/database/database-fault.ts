import pg from 'pg';
import { StartRefused } from '../kernel/start-refused.js';

/** PostgreSQL's own codes and those of the operating system, and errors of the driver that have none. */
interface Fault {
  code?: string;
  message: string;
  path?: string;
}

const UNREACHABLE = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);

const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Why the program cannot start with the database of DATABASE_URL, in a sentence with the remedy; undefined for an error
 * that is no fault of the address, the server or the user in it.
 */
export function databaseFault(error: unknown, url: string): StartRefused | undefined {
  const fault = causeOf(error);
  const message = fault && (fileFault(fault, url) ?? sentenceFor(fault, url));
  return message === undefined ? undefined : new StartRefused(message, { cause: error });
}

/** The driver's error inside the wrappers of TypeORM and ours. */
function causeOf(error: unknown): Fault | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('driverError' in error) return causeOf(error.driverError);
  return error;
}

/** Where the server listens, as a person writes it. */
export function addressOf({ host, port }: Pick<pg.Client, 'host' | 'port'>): string {
  return host.startsWith('/') ? host : `${host}:${port}`;
}

/** DATABASE_URL can name files of certificates, which are read before anything else can be known of it. */
function fileFault({ code = '', message, path }: Fault, url: string): string | undefined {
  const parameters = URL.parse(url)?.searchParams;
  const files = ['sslrootcert', 'sslcert', 'sslkey'].flatMap((name) => parameters?.getAll(name) ?? []);
  const remedy = 'Correct sslrootcert, sslcert or sslkey in DATABASE_URL.';
  if (files.length > 0 && (code === 'EISDIR' || (path !== undefined && files.includes(path))))
    return `The file ${path ?? files.join(' or ')} that DATABASE_URL names cannot be read (${message}). ${remedy}`;
  if (files.length > 0 && /^ERR_OSSL_(?:PEM|ASN1|X509)/.test(code))
    return `A file that DATABASE_URL names is not a certificate or key in PEM format (${message}). ${remedy}`;
  return undefined;
}

function sentenceFor(fault: Fault, url: string): string | undefined {
  const { code = '', message } = fault;
  const client = new pg.Client({ connectionString: url });
  const { host, user = '', database = '' } = client;
  const at = addressOf(client);
  if (code === 'ECONNREFUSED' || code === 'ENOENT')
    return `No PostgreSQL server answers at ${at}. Start it or correct DATABASE_URL; without DATABASE_URL an embedded database is used.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `The host ${host} in DATABASE_URL cannot be found. Correct it; without DATABASE_URL an embedded database is used.`;
  if (UNREACHABLE.has(code) || /connection timeout|timeout expired/i.test(message))
    return `The PostgreSQL server at ${at} does not answer in time. Check the address in DATABASE_URL and the firewall in between.`;
  if (/Query read timeout/.test(message))
    return `PostgreSQL at ${at} accepts connections but does not answer in time. If it is a connection pooler, it may have no session left: a process needs 12 (in pgbouncer: default_pool_size, max_db_connections). Otherwise another program may lock its tables.`;
  if (code === 'ECONNRESET' || /Connection terminated/i.test(message))
    return `The server at ${at} closed the connection and may not be a PostgreSQL server. Correct the address in DATABASE_URL.`;
  if (code === '28P01')
    return `PostgreSQL at ${at} refused the password of the user ${user}. Correct it in DATABASE_URL, where characters such as @ : / # are written with percent-encoding.`;
  if (/password must be a(?: non-empty)? string/i.test(message))
    return `PostgreSQL at ${at} asks for a password and DATABASE_URL has none for the user ${user}. Add it: postgres://user:password@host:port/database.`;
  if (/no encryption|SSL required|SSL off/i.test(message))
    return `PostgreSQL at ${at} requires TLS. Add sslmode=verify-full to DATABASE_URL (${message}).`;
  if (code === '28000')
    return `PostgreSQL at ${at} does not let the user ${user} in (${message}). Correct the user in DATABASE_URL, or allow it in the server's pg_hba.conf.`;
  if (code === '3D000')
    return `PostgreSQL at ${at} has no database ${database}. Create it (create database ${pg.escapeIdentifier(database)};) or correct the name in DATABASE_URL.`;
  if (code === '42501' && /role/i.test(message)) return mayNotCreateRoles(user);
  if (code === '42501')
    return `The user ${user} of DATABASE_URL lacks a right that the service needs (${message}). Let it own the database: alter database ${pg.escapeIdentifier(database)} owner to ${pg.escapeIdentifier(user)};`;
  if (code === '53300')
    return `PostgreSQL at ${at} has no connection left (${message}). End other programs that use it, or raise its max_connections.`;
  if (code === '25006')
    return `PostgreSQL at ${at} is read-only (${message}). Name its primary server in DATABASE_URL, or let it accept writes again.`;
  if (code === '55P03')
    return `Another transaction kept a table of the database locked while it was to be migrated (${message}). End programs that keep transactions open, and start again.`;
  if (code.startsWith('57P'))
    return `PostgreSQL at ${at} is starting or ending (${message}). Start again when it is ready.`;
  // PostgreSQL has a code for each refusal; poolers have this one.
  if (code === '08P01') return poolerFault(at, message, user, database);
  return tlsFault(fault, at, host, URL.parse(url)?.searchParams.get('sslrootcert'));
}

function poolerFault(at: string, message: string, user: string, database: string): string {
  const parameter = /unsupported startup parameter:? "?(\w+)/i.exec(message)?.[1];
  const remedy = parameter
    ? `Remove ${parameter} from DATABASE_URL, or let the pooler ignore it (in pgbouncer: ignore_startup_parameters = ${parameter}).`
    : /no such user|authentication/i.test(message)
      ? `Correct the user ${user} and its password in DATABASE_URL, and let the pooler look users up in the server (in pgbouncer: auth_user and auth_query).`
      : /no such database/i.test(message)
        ? `Add the database ${database} to its configuration, or correct the name in DATABASE_URL.`
        : /transaction/i.test(message)
          ? 'Consigliere needs sessions: set pool_mode = session for its database.'
          : 'Its log says more.';
  return `The connection pooler at ${at} refuses the connection (${message}). ${remedy} See docs/guides/running.md.`;
}

function tlsFault(
  { code = '', message }: Fault,
  at: string,
  host: string,
  authority: string | null | undefined,
): string | undefined {
  if (/does not support SSL/i.test(message))
    return `PostgreSQL at ${at} does not speak TLS, which DATABASE_URL asks for. Remove ssl and sslmode from DATABASE_URL, or turn TLS on at the server.`;
  if (UNKNOWN_AUTHORITY.has(code) && authority)
    return `The certificate of PostgreSQL at ${at} is not signed by the authority in ${authority} (${message}), or that file is not a certificate in PEM format. Correct sslrootcert in DATABASE_URL.`;
  if (UNKNOWN_AUTHORITY.has(code))
    return `The certificate of PostgreSQL at ${at} is signed by an authority that this machine does not know (${message}). Name the authority's certificate in DATABASE_URL: sslrootcert=/path/to/ca.pem. sslmode=no-verify would encrypt without verifying the server.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of PostgreSQL at ${at} is not for the host ${host} (${message}). Use a host name of the certificate in DATABASE_URL.`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `The certificate of PostgreSQL at ${at} is not valid at this time (${message}). Renew it, or correct the clock of this machine.`;
  if (/^(?:ERR_SSL_|ERR_TLS_|EPROTO|CERT_)/.test(code))
    return `TLS with PostgreSQL at ${at} failed (${message}). Check the certificates and the TLS settings of the server, and sslmode in DATABASE_URL.`;
  return undefined;
}

export function mayNotCreateRoles(user: string): string {
  return `The user ${user} of DATABASE_URL may not create roles, which the first start needs. Allow it as an administrator of the server: alter role ${pg.escapeIdentifier(user)} createrole;`;
}
