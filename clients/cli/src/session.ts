import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type AuthenticationError, type ClientOptions, Consigliere, type LogEntry } from '@consigliere/sdk';
import envPaths from 'env-paths';
import { CliError, EXIT, UsageError } from './errors.js';
import { say } from './output.js';

interface Profile {
  baseUrl: string;
  token: string;
  /** For people who look into the list of profiles. */
  workspace?: string;
  operator?: string;
}

interface Configuration {
  version: 1;
  current: string;
  profiles: Record<string, Profile>;
  /** Signs what `webhooks listen` and `webhooks trigger` send to a receiver on this machine; always the same. */
  webhookSecret?: string;
}

/** Whom this command speaks for, and where each of the two was found. */
export interface Session {
  baseUrl: string;
  token: string;
  tokenFrom: string;
  addressFrom: string;
}

const DEFAULT_PROFILE = 'default';
const OWN_MACHINE = 'http://127.0.0.1';

export function configurationFile(): string {
  const folder = process.env['CONSIGLIERE_CONFIG_DIR'] ?? envPaths('consigliere', { suffix: '' }).config;
  return join(folder, 'config.json');
}

/** @throws CliError for a file that is cut, or of something else */
export function readConfiguration(): Configuration {
  const file = configurationFile();
  const text = readIfThere(file);
  if (text === undefined) return { version: 1, current: DEFAULT_PROFILE, profiles: {} };
  const unreadable = (fault: string) =>
    new CliError(
      `${file} ${fault}.`,
      EXIT.error,
      'Mend it, or remove it and sign in again: consigliere login',
      'CONFIGURATION_UNREADABLE',
    );
  let found: Configuration;
  try {
    found = JSON.parse(text) as Configuration;
  } catch {
    throw unreadable('is not complete JSON');
  }
  const profiles: unknown = found?.profiles;
  const isOurs =
    typeof profiles === 'object' &&
    profiles !== null &&
    typeof found.current === 'string' &&
    Object.values(profiles).every((one) => typeof one?.token === 'string' && typeof one.baseUrl === 'string');
  if (!isOurs) throw unreadable('is not a configuration of consigliere');
  if (found.version !== 1)
    throw unreadable(`is of version ${String(found.version)}, which this command does not know`);
  // Windows has no such modes.
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
    say(
      `Warning: other users of this machine may read or change ${file}, which holds tokens. Run: chmod 600 ${file}`,
    );
  return found;
}

/** Written aside and renamed, so that no half of it is ever read; only this user may read it. */
export function writeConfiguration(configuration: Configuration): void {
  const file = configurationFile();
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const aside = `${file}.${crypto.randomUUID()}`;
  try {
    writeFileSync(aside, `${JSON.stringify(configuration, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(aside, 0o600);
    renameSync(aside, file);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** The profile that `--profile`, the environment or `consigliere profiles use` names. */
export function profileName(configuration: Configuration, asked: string | undefined): string {
  return asked ?? process.env['CONSIGLIERE_PROFILE'] ?? configuration.current;
}

/**
 * Environment before profile before the file that the service leaves on its machine. A kept token is sent to its own address
 * alone: another address in the environment needs a token of its own.
 * @throws CliError when nobody is signed in
 */
export function findSession(asked: string | undefined, { isAssistant = false } = {}): Session {
  const address = process.env['CONSIGLIERE_BASE_URL'] || undefined;
  const token = process.env['CONSIGLIERE_TOKEN'] || undefined;
  if (token && asked !== undefined)
    say(`CONSIGLIERE_TOKEN is set, and is used instead of the token of profile ${asked}.`);
  // With both of them nothing else is read, so a broken file is in nobody's way.
  if (token && address) return fromEnvironment(token, address, 'CONSIGLIERE_BASE_URL');
  const configuration = readConfiguration();
  const name = profileName(configuration, asked);
  const profile = Object.hasOwn(configuration.profiles, name) ? configuration.profiles[name] : undefined;
  if (!profile && (asked ?? process.env['CONSIGLIERE_PROFILE']))
    throw notSignedIn(`There is no profile ${name}.`, name);
  if (token) {
    return fromEnvironment(
      token,
      profile?.baseUrl ?? localAddress(),
      profile ? `profile ${name}` : 'default',
    );
  }
  if (profile && (!address || sameAddress(address, profile.baseUrl))) {
    return { ...profile, tokenFrom: `profile ${name}`, addressFrom: `profile ${name}` };
  }
  // An owner's: an assistant gets it only from a person who gives it.
  const kept = isAssistant ? undefined : credentials();
  if (kept && (!address || isOwnMachine(address))) {
    return {
      baseUrl: address ?? localAddress(),
      token: kept.token,
      tokenFrom: kept.file,
      addressFrom: address ? 'CONSIGLIERE_BASE_URL' : 'default',
    };
  }
  throw notSignedIn(
    address ? `You are not signed in to ${address}.` : 'You are not signed in.',
    DEFAULT_PROFILE,
  );
}

function fromEnvironment(token: string, baseUrl: string, addressFrom: string): Session {
  return { baseUrl, token, tokenFrom: 'CONSIGLIERE_TOKEN', addressFrom };
}

function notSignedIn(message: string, profile: string): CliError {
  const option = profile === DEFAULT_PROFILE ? '' : ` --profile ${profile}`;
  return new CliError(
    message,
    EXIT.notSignedIn,
    `Sign in with \`consigliere login${option}\`, or set CONSIGLIERE_TOKEN.`,
    'NOT_SIGNED_IN',
  );
}

/** Says which token the service has refused, and what to do about that one. */
export function tokenRefused(
  error: AuthenticationError,
  { tokenFrom, baseUrl }: Pick<Session, 'tokenFrom' | 'baseUrl'>,
): CliError {
  const [, profile] = /^profile (.*)$/.exec(tokenFrom) ?? [];
  const hint = profile
    ? `Sign in again: consigliere login --profile ${profile}`
    : tokenFrom === 'CONSIGLIERE_TOKEN'
      ? 'Set another token, or unset CONSIGLIERE_TOKEN to use the one that `consigliere login` keeps.'
      : 'Sign in with another token: consigliere login --with-token < token.txt';
  const message = `${baseUrl} refused the token from ${tokenFrom}: ${error.message}`;
  return new CliError(message, EXIT.notSignedIn, hint, error.code, { cause: error });
}

/** What the first start of the service leaves on its machine: in DATA_DIR, else in .data of this folder. */
export function credentials(): { token: string; file: string } | undefined {
  const file = join(process.env['DATA_DIR'] ?? '.data', 'credentials.json');
  try {
    const { token } = JSON.parse(readFileSync(file, 'utf8')) as { token?: unknown };
    return typeof token === 'string' ? { token, file } : undefined;
  } catch {
    return undefined;
  }
}

export function localAddress(): string {
  return `${OWN_MACHINE}:${process.env['PORT'] || '3000'}`;
}

export function isOwnMachine(address: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(urlOf(address).hostname);
}

function sameAddress(one: string, other: string): boolean {
  return urlOf(one).href.replace(/\/+$/, '') === urlOf(other).href.replace(/\/+$/, '');
}

/** @throws UsageError */
export function urlOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new UsageError(
    `${address} is no address of a service.`,
    'An address looks like https://ops.example.com or http://127.0.0.1:3000.',
  );
}

export function clientOf(
  { baseUrl, token }: Pick<Session, 'baseUrl' | 'token'>,
  isDebug: boolean,
  more: ClientOptions = {},
): Consigliere {
  urlOf(baseUrl);
  // A line break in a token, say, which no header can carry.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CliError(
      'The token has an invalid character.',
      EXIT.notSignedIn,
      'Sign in again: consigliere login',
    );
  }
  // The command before may have changed something, and told this one nothing of it.
  const headers = { 'X-Service-Client': 'cli', 'X-Service-Position': 'latest', ...more.headers };
  const log = ({ status, milliseconds, requestId, error }: LogEntry, message: string) =>
    say(`${message} ${status ?? ''} ${milliseconds} ms ${error ?? requestId ?? ''}`);
  const logger = isDebug ? { debug: log, warn: log } : undefined;
  return new Consigliere({ ...more, headers, baseUrl, token, logger });
}

/** Signs events for a receiver on this machine: made once, then always the same, so that the receiver keeps its set-up. */
export function webhookSecret(): string {
  const configuration = readConfiguration();
  if (configuration.webhookSecret) return configuration.webhookSecret;
  const secret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`;
  writeConfiguration({ ...configuration, webhookSecret: secret });
  return secret;
}

/** A path as people write it. */
export function shortPath(path: string): string {
  return path.startsWith(homedir()) ? `~${path.slice(homedir().length)}` : path;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
