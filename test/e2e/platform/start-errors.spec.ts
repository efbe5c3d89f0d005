import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { loadConfig } from '../../../src/platform/config/config.js';
import { environment } from '../../../src/platform/config/environment.js';
import { StartRefused } from '../../../src/platform/kernel/start-refused.js';
import { assertConnectors } from '../../../src/start-checks.js';
import { startService } from '../../support/processes.js';

const ROOT = join(import.meta.dirname, '../../..');
const LONG = { timeout: 60_000 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-start-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The program, started with these variables and nothing else, until it has ended. */
async function start(variables: Record<string, string>) {
  const child = spawn(process.execPath, [join(ROOT, 'dist/src/main.js')], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: join(folder, 'data'), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, complained, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, said, complained };
}

/** It ends with exit code 1 and this message on stderr, without a stack and without a word on stdout. */
async function expectRefusal(variables: Record<string, string>, message: string): Promise<void> {
  expect(await start(variables)).toEqual({ code: 1, said: '', complained: `${message}\n` });
}

const settings = (...faults: string[]) =>
  ['Consigliere cannot start with these settings:', ...faults.map((fault) => `  ${fault}`)].join('\n');

const WRONG: Record<keyof typeof environment.shape, [value: string, fault: string]> = {
  NODE_ENV: ['staging', 'must be one of development, test, production'],
  PROCESS_ROLE: ['both', 'must be one of all, api, worker'],
  HOST: ['http://localhost', 'must be an IP address or a host name'],
  PORT: ['http', 'must be a whole number from 0 to 65535'],
  METRICS_PORT: ['65536', 'must be a whole number from 0 to 65535'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'must be an http or https URL'],
  PUBLIC_URL: ['consigliere.example.com', 'must be an http or https URL'],
  DRAIN_SECONDS: ['601', 'must be a whole number from 0 to 600'],
  TRUST_PROXY: ['yes', 'must be a whole number from 0 to 10'],
  LOG_LEVEL: ['loud', 'must be one of fatal, error, warn, info, debug, trace, silent'],
  DATA_DIR: ['a\nb', 'must be 1 to 4096 characters on one line'],
  DATABASE_READ_URL: ['mysql://localhost/x', 'must be a postgres or postgresql URL'],
  DATABASE_READ_LAG_SECONDS: ['0', 'must be a whole number from 1 to 3600'],
  DATABASE_URL: ['mysql://localhost/x', 'must be a postgres or postgresql URL'],
  RESTORED_DATABASE: [
    '16390',
    'must be the two numbers, with a hyphen between, that the refused start shows',
  ],
  RATE_LIMIT_STORE: ['redis', 'must be one of memory, postgres, automatic'],
  SECRETS_KEY: ['short', 'must be 32 bytes in base64, as printed by: openssl rand -base64 32'],
  MODEL_PROVIDER: ['gpt', 'must be one of builtin, openai, anthropic, openai-compatible'],
  MODEL_BASE_URL: ['localhost:11434', 'must be an http or https URL'],
  MODEL_API_KEY: ['a\nb', 'must be 1 to 4096 characters on one line'],
  MODEL_NAME: ['a\nb', 'must be 1 to 200 characters on one line'],
  MODEL_MAX_TOKENS: ['many', 'must be a whole number from 256 to 1000000'],
  MODEL_TIMEOUT_SECONDS: ['0', 'must be a whole number from 1 to 3600'],
  REPORT_SECTION_SECONDS: ['0', 'must be a whole number from 1 to 600'],
  MODEL_PRICE_INPUT: ['free', 'must be a decimal number below 1,000,000 with at most 6 decimals'],
  MODEL_PRICE_OUTPUT: ['1e3', 'must be a decimal number below 1,000,000 with at most 6 decimals'],
  SMTP_URL: ['mail.example.com:25', 'must be an smtp or smtps URL'],
  MAIL_TRANSPORT: ['outbox', 'must be one of smtp, file'],
  MAIL_FROM: ['Ada', 'must be a mail address, with or without a name: Name <name@example.com>'],
  OUTBOUND_ALLOW: ['receiver', 'must be a comma-separated list of host:port'],
  CONNECTORS_FILE: ['/nowhere/connectors.json', 'names a file that does not exist'],
  BOOTSTRAP_WORKSPACE: ['a\nb', 'must be 1 to 100 characters on one line'],
  BOOTSTRAP_OWNER_EMAIL: ['ada', 'must be a mail address'],
  BOOTSTRAP_OWNER_NAME: ['a\nb', 'must be 1 to 100 characters on one line'],
  BOOTSTRAP_OWNER_PASSWORD: ['secret', 'must have 10 to 200 characters'],
  BOOTSTRAP_TOKEN: [
    'cons_short',
    'must be an operator token: cons_, 43 base62 characters and their checksum of 6; leave it unset to have one made',
  ],
  BOOTSTRAP_TIER: ['gold', 'must be one of free, pro, enterprise'],
  LICENCE_PUBLIC_KEY: [
    'short',
    'must be one to ten Ed25519 public keys of 32 bytes in base64url, with commas between',
  ],
  SKILL_PACK_PUBLISHERS: [
    'acme',
    'must be one to fifty publishers with their Ed25519 public keys, as publisher=key with commas between',
  ],
  SKILL_PACK_REVOCATIONS: ['a\nb', 'must be 1 to 4096 characters on one line'],
  PARTNER_SIGNING_SECRET: ['short', 'must have at least 16 characters'],
  OIDC_ISSUER: ['login.example.com', 'must be an http or https URL'],
  OIDC_CLIENT_ID: ['a\nb', 'must be 1 to 200 characters on one line'],
  OIDC_CLIENT_SECRET: ['a\nb', 'must be 1 to 4096 characters on one line'],
  OIDC_DOMAINS: ['example.com,@example.org', 'must be a comma-separated list of mail domains'],
  OIDC_WORKSPACE: ['first', 'must be the id of a workspace: wks_ and 26 characters'],
  OIDC_NAME: ['a\nb', 'must be 1 to 60 characters on one line'],
};

/** Settings that are of use with others only. */
const OIDC = {
  OIDC_ISSUER: 'https://login.example.com',
  OIDC_CLIENT_ID: 'consigliere',
  OIDC_CLIENT_SECRET: 'secret',
  OIDC_DOMAINS: 'example.com',
};

describe('a setting that cannot be used', () => {
  it.each(Object.entries(WRONG))('%s', async (variable, [value, fault]) => {
    const partner: Record<string, Record<string, string>> = {
      DATABASE_READ_URL: { DATABASE_URL: 'postgres://localhost/consigliere' },
      MODEL_PRICE_INPUT: { MODEL_PRICE_OUTPUT: '1' },
      MODEL_PRICE_OUTPUT: { MODEL_PRICE_INPUT: '1' },
    };
    const others = { ...partner[variable], ...(variable.startsWith('OIDC_') && OIDC) };
    // Every variable in this process; those below show what the program makes of it.
    const check = async () => assertConnectors(loadConfig({ ...others, [variable]: value }));
    const refusal = await check().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StartRefused);
    expect(refusal).toHaveProperty('message', settings(`${variable} ${fault}`));
  });

  it('sign-in by OpenID Connect that lacks something, or asks its issuer unprotected', async () => {
    await expectRefusal(
      { OIDC_DOMAINS: 'example.com' },
      settings(
        'OIDC_ISSUER is required when OIDC_DOMAINS is set',
        'OIDC_CLIENT_ID is required when OIDC_DOMAINS is set',
        'OIDC_CLIENT_SECRET is required when OIDC_DOMAINS is set',
      ),
    );
    await expectRefusal(
      { ...OIDC, OIDC_ISSUER: 'http://login.example.com:8080', OUTBOUND_ALLOW: 'login.example.com:80' },
      settings('OIDC_ISSUER must be an https URL, unless OUTBOUND_ALLOW lists its host and port'),
    );
  });

  it('and all others with it, a line for each', async () => {
    await expectRefusal(
      { PORT: 'x', LOG_LEVEL: 'loud', MODEL_PROVIDER: 'openai', MAIL_TRANSPORT: 'smtp' },
      settings(
        `PORT ${WRONG.PORT[1]}`,
        `LOG_LEVEL ${WRONG.LOG_LEVEL[1]}`,
        'SMTP_URL is required when MAIL_TRANSPORT=smtp',
        'MODEL_API_KEY is required when MODEL_PROVIDER=openai',
        'MODEL_NAME is required when MODEL_PROVIDER=openai',
      ),
    );
  });

  it('in production: mail that would reach nobody', async () => {
    await expectRefusal(
      { NODE_ENV: 'production' },
      settings(
        'SMTP_URL is required when NODE_ENV=production; to have mail written to files and sent to nobody, set MAIL_TRANSPORT=file',
        'MAIL_FROM is required when NODE_ENV=production: the address that mail is sent from',
      ),
    );
    await expectRefusal(
      { NODE_ENV: 'production', MAIL_TRANSPORT: 'file', MAIL_FROM: 'Ada <ada@mail.example.com>' },
      settings(
        'MAIL_FROM must not be an address at example.com when NODE_ENV=production: nobody receives mail there',
      ),
    );
  });
});

describe('where it is to listen', () => {
  let taken: Server;
  beforeAll(async () => {
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
  });
  afterAll(() => taken.close());

  it('a port that is taken is found before a database is made', async () => {
    const { port } = taken.address() as AddressInfo;
    await expectRefusal(
      { PORT: String(port) },
      `Port ${port} at 127.0.0.1 is in use by another program, or by a Consigliere that runs already. End that one, or set PORT to another port.`,
    );
    await expectRefusal(
      { METRICS_PORT: String(port) },
      `Port ${port} at 127.0.0.1 is in use by another program, or by a Consigliere that runs already. End that one, or set METRICS_PORT to another port.`,
    );
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('an address that is not of this machine', () =>
    expectRefusal(
      { HOST: '192.0.2.1', PORT: '47000' },
      'HOST 192.0.2.1 is not an address of this machine. Set HOST to 127.0.0.1, or to 0.0.0.0 for all network interfaces.',
    ));
});

describe('a DATA_DIR that cannot be written to', () => {
  const expectRefused = (dataDir: string, because: string) =>
    expectRefusal(
      { DATA_DIR: dataDir },
      `The folder ${dataDir} cannot be written to: ${because}. Change that, or set DATA_DIR to another folder.`,
    );

  it('because a file has its name', async () => {
    await writeFile(join(folder, 'file'), '');
    await expectRefused(join(folder, 'file'), 'it, or a part of its path, is a file and not a folder');
    await expectRefused(
      join(folder, 'file', 'data'),
      'it, or a part of its path, is a file and not a folder',
    );
  });

  it.skipIf(process.getuid?.() === 0)('because it is read-only', async () => {
    await mkdir(join(folder, 'data'), { mode: 0o500 });
    await expectRefused(join(folder, 'data'), 'this user may not write there');
  });

  // Nobody, root included, makes files in these two.
  it.runIf(process.platform === 'linux')('because nobody may write there', async () => {
    await expectRefused('/proc/consigliere', 'it cannot be created');
    expect((await start({ DATA_DIR: '/sys' })).complained).toMatch(
      /^The folder \/sys cannot be written to: (this user may not write there|the file system is read-only)\. Change that, or set DATA_DIR to another folder\.\n$/,
    );
  });
});

describe('a DATABASE_URL', () => {
  const name = `start_${randomBytes(4).toString('hex')}`;
  const address = new URL(inject('serverUrl'));
  const at = `${address.hostname}:${address.port}`;
  let server: pg.Client;
  beforeAll(async () => {
    server = new pg.Client({ connectionString: inject('serverUrl') });
    await server.connect();
    await server.query(`create role ${name} login nocreaterole nosuperuser password 'word'`);
    await server.query(`create database ${name} owner ${name}`);
  });
  afterAll(async () => {
    await server.query(`drop database ${name} with (force)`);
    await server.query(`drop role ${name}`);
    await server.end();
  });

  const url = (change: Partial<URL>) => Object.assign(new URL(address), change).href;
  const own = { username: name, password: 'word', pathname: `/${name}` };
  const expectRefused = (DATABASE_URL: string, message: string) =>
    expectRefusal({ DATABASE_URL, SECRETS_KEY: randomBytes(32).toString('base64') }, message);

  it('with a wrong password', LONG, () =>
    expectRefused(
      url({ ...own, password: 'wrong' }),
      `PostgreSQL at ${at} refused the password of the user ${name}. Correct it in DATABASE_URL, where characters such as @ : / # are written with percent-encoding.`,
    ),
  );

  it('without the password that the server asks for', LONG, () =>
    expectRefused(
      url({ ...own, password: '' }),
      `PostgreSQL at ${at} asks for a password and DATABASE_URL has none for the user ${name}. Add it: postgres://user:password@host:port/database.`,
    ),
  );

  it('where no server answers', LONG, async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    await expectRefused(
      `postgres://a:b@127.0.0.1:${port}/x`,
      `No PostgreSQL server answers at 127.0.0.1:${port}. Start it or correct DATABASE_URL; without DATABASE_URL an embedded database is used.`,
    );
  });

  it('of a host that cannot be found', LONG, () =>
    expectRefused(
      'postgres://a:b@nowhere.invalid/x',
      'The host nowhere.invalid in DATABASE_URL cannot be found. Correct it; without DATABASE_URL an embedded database is used.',
    ),
  );

  it('where another program closes the connection', LONG, async () => {
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    );
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expectRefused(
      `postgres://a:b@127.0.0.1:${port}/x`,
      `The server at 127.0.0.1:${port} closed the connection and may not be a PostgreSQL server. Correct the address in DATABASE_URL.`,
    );
    other.close();
  });

  it('of a database that is not there', LONG, () =>
    expectRefused(
      url({ pathname: '/no_such_database' }),
      `PostgreSQL at ${at} has no database no_such_database. Create it (create database "no_such_database";) or correct the name in DATABASE_URL.`,
    ),
  );

  it('of a user who may not create roles', LONG, async () => {
    const message = `The user ${name} of DATABASE_URL may not create roles, which the first start needs. Allow it as an administrator of the server: alter role "${name}" createrole;`;
    await expectRefused(url(own), message);
    // On the server of another Consigliere the roles of the schema are there; its own login is still to be made.
    await server.query(`grant consigliere_app, consigliere_system to ${name} with admin option`);
    await expectRefused(url(own), message);
  });
});

it('a start with SMTP_URL and without MAIL_FROM warns, and one with both does not', LONG, async () => {
  const smtp = { SMTP_URL: 'smtp://127.0.0.1:1' };
  const service = await startService(1, smtp);
  const second = await service.start({ MAIL_FROM: 'Northwind <care@northwind.test>' });
  const warnings = ({ logs }: typeof second) =>
    logs.filter(({ level, msg }) => level === 'warn' && /SMTP_URL.*MAIL_FROM/.test(String(msg)));
  await expect.poll(() => warnings(service.processes[0]!).length).toBe(1);
  expect(warnings(second)).toEqual([]);
  await service.close();
});
