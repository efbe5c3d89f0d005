import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Config, ConfigInvalid, loadConfig } from '../../src/platform/config/config.js';
import { environment, notes } from '../../src/platform/config/environment.js';
import { isOperatorToken, newOperatorToken } from '../../src/platform/kernel/operator-token.js';

const DATABASE_URL = 'postgres://consigliere:password@localhost/consigliere';
const MAIL_FROM = 'Ada <ada@example.org>';
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const PUBLIC_KEY = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
const OIDC = {
  OIDC_ISSUER: 'https://login.example.com',
  OIDC_CLIENT_ID: 'consigliere',
  OIDC_CLIENT_SECRET: 'a secret',
  OIDC_DOMAINS: 'example.com',
};

function faultsOf(env: NodeJS.ProcessEnv): ConfigInvalid {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigInvalid) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

const variablesAtFault = (env: NodeJS.ProcessEnv) => faultsOf(env).faults.map(({ variable }) => variable);

describe('loadConfig', () => {
  it('has a process serve for five seconds after it was told to end, in production alone', () => {
    const production = { NODE_ENV: 'production', MAIL_TRANSPORT: 'file', MAIL_FROM };
    expect(loadConfig(production).drainSeconds).toBe(5);
    expect(loadConfig({ ...production, DRAIN_SECONDS: '0' }).drainSeconds).toBe(0);
    expect(loadConfig({}).drainSeconds).toBe(0);
  });

  it('needs nothing: every variable has a default or may be unset', () => {
    expect({ ...loadConfig({}) }).toEqual({
      nodeEnv: 'development',
      processRole: 'all',
      host: '127.0.0.1',
      port: 3000,
      metricsPort: undefined,
      publicUrl: undefined,
      trustProxy: 0,
      drainSeconds: 0,
      logLevel: 'info',
      dataDir: resolve('.data'),
      databaseUrl: undefined,
      databaseReadLagSeconds: 5,
      rateLimitStore: 'automatic',
      restoredDatabase: undefined,
      secretsKey: undefined,
      modelProvider: 'builtin',
      modelBaseUrl: undefined,
      modelApiKey: undefined,
      modelName: undefined,
      modelMaxTokens: 16_000,
      modelTimeoutSeconds: 120,
      modelPriceInput: undefined,
      modelPriceOutput: undefined,
      smtpUrl: undefined,
      mailTransport: 'file',
      mailFrom: 'Consigliere <consigliere@example.com>',
      outboundAllow: [],
      bootstrapWorkspace: 'My workspace',
      bootstrapOwnerEmail: 'owner@example.com',
      bootstrapOwnerName: undefined,
      bootstrapOwnerPassword: undefined,
      bootstrapToken: undefined,
      bootstrapTier: 'pro',
      licencePublicKeys: [],
      skillPackPublishers: [],
      skillPackRevocations: undefined,
      reportSectionSeconds: 90,
      partnerSigningSecret: undefined,
      oidcIssuer: undefined,
      oidcClientId: undefined,
      oidcClientSecret: undefined,
      oidcDomains: [],
      oidcWorkspace: undefined,
      oidcName: undefined,
    });
  });

  it('reads every variable into the field of its name', () => {
    const token = newOperatorToken();
    const config = loadConfig({
      NODE_ENV: 'production',
      PROCESS_ROLE: 'api',
      HOST: '::',
      PORT: '0',
      METRICS_PORT: '9464',
      PUBLIC_URL: 'https://consigliere.example.com/',
      TRUST_PROXY: '10',
      DRAIN_SECONDS: '600',
      LOG_LEVEL: 'trace',
      DATA_DIR: '/var/lib/consigliere',
      DATABASE_URL,
      DATABASE_READ_URL: `${DATABASE_URL}?sslmode=require`,
      DATABASE_READ_LAG_SECONDS: '30',
      RATE_LIMIT_STORE: 'memory',
      RESTORED_DATABASE: '7431960251904123456-16390',
      SECRETS_KEY,
      MODEL_PROVIDER: 'openai-compatible',
      MODEL_BASE_URL: 'http://localhost:11434/v1',
      MODEL_API_KEY: 'sk-1',
      MODEL_NAME: 'qwen',
      MODEL_MAX_TOKENS: '4000',
      MODEL_TIMEOUT_SECONDS: '600',
      MODEL_PRICE_INPUT: '0',
      MODEL_PRICE_OUTPUT: '0.000001',
      SMTP_URL: 'smtps://user:password@mail.example.com:465',
      MAIL_TRANSPORT: 'file',
      MAIL_FROM: 'ada@example.org',
      OUTBOUND_ALLOW: 'Receiver:8080, [0::1]:443,127.1:80',
      BOOTSTRAP_WORKSPACE: 'Acme & Söhne',
      BOOTSTRAP_OWNER_EMAIL: 'ada@example.org',
      BOOTSTRAP_OWNER_NAME: 'Ada Lovelace',
      BOOTSTRAP_OWNER_PASSWORD: 'a long pass phrase',
      BOOTSTRAP_TOKEN: token,
      BOOTSTRAP_TIER: 'enterprise',
      LICENCE_PUBLIC_KEY: `${PUBLIC_KEY}, ${'A'.repeat(43)}`,
      SKILL_PACK_PUBLISHERS: `acme=${PUBLIC_KEY}, other-one=${'A'.repeat(43)}`,
      SKILL_PACK_REVOCATIONS: '/etc/consigliere/revocations.json',
      REPORT_SECTION_SECONDS: '30',
      PARTNER_SIGNING_SECRET: 'sixteen or more.',
      OIDC_ISSUER: 'https://login.example.com/application/o/consigliere/',
      OIDC_CLIENT_ID: 'consigliere',
      OIDC_CLIENT_SECRET: 'a secret',
      OIDC_DOMAINS: 'Example.com, münchen.example,example.com',
      OIDC_WORKSPACE: 'wks_01kerpxzkz8m1c3v5b7n9q2w4e',
      OIDC_NAME: 'Acme account',
      PATH: '/usr/bin',
    });
    expect({ ...config }).toEqual({
      nodeEnv: 'production',
      processRole: 'api',
      host: '::',
      port: 0,
      metricsPort: 9464,
      publicUrl: 'https://consigliere.example.com',
      trustProxy: 10,
      drainSeconds: 600,
      logLevel: 'trace',
      dataDir: '/var/lib/consigliere',
      databaseUrl: DATABASE_URL,
      databaseReadUrl: `${DATABASE_URL}?sslmode=verify-full`,
      databaseReadLagSeconds: 30,
      rateLimitStore: 'memory',
      restoredDatabase: '7431960251904123456-16390',
      secretsKey: SECRETS_KEY,
      modelProvider: 'openai-compatible',
      modelBaseUrl: 'http://localhost:11434/v1',
      modelApiKey: 'sk-1',
      modelName: 'qwen',
      modelMaxTokens: 4_000,
      modelTimeoutSeconds: 600,
      modelPriceInput: 0,
      modelPriceOutput: 0.000001,
      smtpUrl: 'smtps://user:password@mail.example.com:465',
      mailTransport: 'file',
      mailFrom: 'ada@example.org',
      outboundAllow: ['receiver:8080', '[::1]:443', '127.0.0.1:80'],
      bootstrapWorkspace: 'Acme & Söhne',
      bootstrapOwnerEmail: 'ada@example.org',
      bootstrapOwnerName: 'Ada Lovelace',
      bootstrapOwnerPassword: 'a long pass phrase',
      bootstrapToken: token,
      bootstrapTier: 'enterprise',
      licencePublicKeys: [PUBLIC_KEY, 'A'.repeat(43)],
      skillPackPublishers: [
        { name: 'acme', publicKey: PUBLIC_KEY },
        { name: 'other-one', publicKey: 'A'.repeat(43) },
      ],
      skillPackRevocations: '/etc/consigliere/revocations.json',
      reportSectionSeconds: 30,
      partnerSigningSecret: 'sixteen or more.',
      oidcIssuer: 'https://login.example.com/application/o/consigliere/',
      oidcClientId: 'consigliere',
      oidcClientSecret: 'a secret',
      oidcDomains: ['example.com', 'xn--mnchen-3ya.example'],
      oidcWorkspace: 'wks_01kerpxzkz8m1c3v5b7n9q2w4e',
      oidcName: 'Acme account',
    });
  });

  it('takes an empty variable for an unset one', () => {
    const empty = Object.fromEntries(Object.keys(environment.shape).map((variable) => [variable, '']));
    expect(loadConfig(empty)).toEqual(loadConfig({}));
  });

  it('answers an absolute data folder', () => {
    expect(isAbsolute(loadConfig({ DATA_DIR: 'here' }).dataDir)).toBe(true);
  });

  it('answers one object that nobody can change', () => {
    const config = loadConfig({});
    expect(config).toBeInstanceOf(Config);
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.values(config).every((value) => Object.isFrozen(value))).toBe(true);
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
  });

  it('counts requests in memory only when one process has the database to itself', () => {
    expect(loadConfig({}).rateLimitStore).toBe('automatic');
    expect(loadConfig({ PROCESS_ROLE: 'api' }).rateLimitStore).toBe('postgres');
    expect(loadConfig({ DATABASE_URL }).rateLimitStore).toBe('postgres');
    expect(loadConfig({ DATABASE_URL, RATE_LIMIT_STORE: 'memory' }).rateLimitStore).toBe('memory');
  });
});

describe('ConfigInvalid', () => {
  it('names every fault at once, missing variables included', () => {
    expect(
      variablesAtFault({
        NODE_ENV: 'production',
        DATABASE_URL,
        MAIL_FROM: 'ada@example.org',
        HOST: 'not a host',
        PORT: '65536',
        TRUST_PROXY: '-1',
        LOG_LEVEL: 'loud',
        SMTP_URL: 'https://mail.example.com',
        MODEL_PROVIDER: 'openai',
        BOOTSTRAP_TOKEN: 'cons_short',
      }),
    ).toEqual([
      'HOST',
      'PORT',
      'TRUST_PROXY',
      'LOG_LEVEL',
      'SMTP_URL',
      'BOOTSTRAP_TOKEN',
      'SECRETS_KEY',
      'MODEL_API_KEY',
      'MODEL_NAME',
    ]);
  });

  it('says what each variable must be', () => {
    expect(faultsOf({ PORT: 'http', PROCESS_ROLE: 'both' }).message).toBe(
      'Consigliere cannot start with these settings:\n' +
        '  PROCESS_ROLE must be one of all, api, worker\n' +
        '  PORT must be a whole number from 0 to 65535',
    );
  });

  it.each(Object.keys(environment.shape))('never repeats the value of %s', (variable) => {
    const value = `hunter2\n\u0000<hunter2>${'x'.repeat(5000)}`;
    const fault = faultsOf({ [variable]: value });
    expect(fault.faults.map((each) => each.variable)).toContain(variable);
    expect(fault.message).not.toContain('hunter2');
    expect(JSON.stringify(fault)).not.toContain('hunter2');
  });

  it.each([
    ['NODE_ENV', ['staging', 'Production', ' ']],
    ['PORT', ['-1', '65536', '3e3', '0x50', '080', ' 80', '80.0', '9'.repeat(40)]],
    ['TRUST_PROXY', ['11', 'true', '1.5']],
    ['HOST', ['-a', 'a..b', 'http://localhost', '127.0.0.1:80']],
    ['RESTORED_DATABASE', ['16390', 'yes', '7431960251904123456', '-1-2', '1-2-3']],
    ['PUBLIC_URL', ['consigliere.example.com', 'ftp://x', 'https://u:p@x', 'https://x/?a=1', 'https://x#a']],
    ['DATABASE_URL', ['mysql://localhost/x', 'localhost', 'postgres://local host/x']],
    ['SECRETS_KEY', ['short', Buffer.alloc(31).toString('base64'), Buffer.alloc(32).toString('hex')]],
    ['MODEL_BASE_URL', ['file:///etc/passwd', 'localhost:11434']],
    ['MODEL_PRICE_INPUT', ['-1', '1e3', '.5', '5.', '0x5', '1,5', '0.0000001', '1000000', 'free']],
    ['MODEL_PRICE_OUTPUT', ['-1', ' 1', 'NaN']],
    ['SMTP_URL', ['mail.example.com:25', 'http://mail.example.com']],
    [
      'MAIL_FROM',
      [
        'nobody',
        'A <a@example.org> <b@example.org>',
        'a@example.org\r\nBcc: b@example.org',
        '=?utf-8?q?Bob?= <a@example.org>',
      ],
    ],
    [
      'OUTBOUND_ALLOW',
      [
        'receiver',
        ':80',
        'receiver:',
        'receiver:0',
        'receiver:65536',
        'http://receiver:80',
        'receiver:80/hook',
        'user@receiver:80',
        'receiver:80,',
        'receiver:80 receiver:81',
        '*:80',
        '::1:80',
        '[::g]:80',
        '999.1.1.1:80',
      ],
    ],
    ['BOOTSTRAP_OWNER_EMAIL', ['owner', 'Owner <owner@example.org>']],
    ['BOOTSTRAP_OWNER_PASSWORD', ['nine char', 'x'.repeat(201)]],
    ['BOOTSTRAP_TIER', ['gold']],
    [
      'LICENCE_PUBLIC_KEY',
      [
        PUBLIC_KEY.slice(1),
        `${PUBLIC_KEY}=`,
        `${PUBLIC_KEY},`,
        `${PUBLIC_KEY} ${PUBLIC_KEY}`,
        // The last character has bits that belong to no byte.
        `${PUBLIC_KEY.slice(0, -1)}p`,
        Array(11).fill(PUBLIC_KEY).join(),
      ],
    ],
    [
      'SKILL_PACK_PUBLISHERS',
      [
        PUBLIC_KEY,
        'acme=',
        `=${PUBLIC_KEY}`,
        `acme=${PUBLIC_KEY.slice(1)}`,
        `acme=${PUBLIC_KEY},`,
        `Acme=${PUBLIC_KEY}`,
        `acme--one=${PUBLIC_KEY}`,
        `acm\u0435=${PUBLIC_KEY}`,
        `__proto__=${PUBLIC_KEY}`,
        Array(51).fill(`acme=${PUBLIC_KEY}`).join(),
      ],
    ],
    ['PARTNER_SIGNING_SECRET', ['fifteen letters', 'x'.repeat(257)]],
    [
      'OIDC_ISSUER',
      [
        'login.example.com',
        'ldap://login.example.com',
        'http://login.example.com',
        'https://user:word@login.example.com',
        'https://login.example.com/?a=b',
        'https://login.example.com/#a',
        'https://login.microsoftonline.com/common/v2.0',
        'https://login.microsoftonline.com/organizations/v2.0',
        'https://login.microsoftonline.com/Consumers/v2.0',
      ],
    ],
    [
      'OIDC_DOMAINS',
      ['example', 'example.com,', '*.example.com', '@example.com', 'https://example.com', ','],
    ],
    ['OIDC_WORKSPACE', ['My workspace', 'usr_01kerpxzkz8m1c3v5b7n9q2w4e', 'wks_1']],
  ])('refuses %s of %j', (variable, values) => {
    for (const value of values) expect(variablesAtFault({ [variable]: value })).toContain(variable);
  });

  it.each([
    [
      'production with a server of its own',
      { NODE_ENV: 'production', DATABASE_URL },
      ['SECRETS_KEY', 'SMTP_URL', 'MAIL_FROM'],
    ],
    ['production without a mail server', { NODE_ENV: 'production', MAIL_FROM }, ['SMTP_URL']],
    ['sending without a mail server', { MAIL_TRANSPORT: 'smtp' }, ['SMTP_URL']],
    [
      'production with the address of the documentation',
      { NODE_ENV: 'production', MAIL_TRANSPORT: 'file', MAIL_FROM: 'Ada <ada@example.com>' },
      ['MAIL_FROM'],
    ],
    ['openai', { MODEL_PROVIDER: 'openai' }, ['MODEL_API_KEY', 'MODEL_NAME']],
    ['anthropic without a model', { MODEL_PROVIDER: 'anthropic', MODEL_API_KEY: 'sk-1' }, ['MODEL_NAME']],
    ['openai-compatible', { MODEL_PROVIDER: 'openai-compatible' }, ['MODEL_NAME', 'MODEL_BASE_URL']],
    ['one price', { MODEL_PRICE_INPUT: '3' }, ['MODEL_PRICE_OUTPUT']],
    ['the other price', { MODEL_PRICE_OUTPUT: '15' }, ['MODEL_PRICE_INPUT']],
    [
      'an issuer alone',
      { OIDC_ISSUER: 'https://login.example.com' },
      ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_DOMAINS'],
    ],
    [
      'a name for no issuer',
      { OIDC_NAME: 'Acme' },
      ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_DOMAINS'],
    ],
    [
      'an issuer in production, which sends people back somewhere',
      { NODE_ENV: 'production', MAIL_TRANSPORT: 'file', MAIL_FROM, ...OIDC },
      ['PUBLIC_URL'],
    ],
  ])('asks for what is missing: %s', (_case, env, expected) => {
    expect(variablesAtFault(env)).toEqual(expected);
  });

  it.each([
    [
      'production on the embedded database',
      { NODE_ENV: 'production', MAIL_FROM, SMTP_URL: 'smtp://mail.example.org' },
    ],
    ['a server of its own in development', { DATABASE_URL }],
    [
      'production with everything',
      { NODE_ENV: 'production', DATABASE_URL, SECRETS_KEY, MAIL_FROM, MAIL_TRANSPORT: 'file' },
    ],
    [
      'an issuer by plain http that the operator vouches for',
      { ...OIDC, OIDC_ISSUER: 'http://login.internal:8080', OUTBOUND_ALLOW: 'login.internal:8080' },
    ],
    ['a key written in the alphabet of URLs', { SECRETS_KEY: Buffer.alloc(32, 255).toString('base64url') }],
  ])('asks for nothing more: %s', (_case, env) => {
    expect(loadConfig(env)).toBeInstanceOf(Config);
  });
});

describe('a secret in a file', () => {
  const PRODUCTION = { NODE_ENV: 'production', MAIL_TRANSPORT: 'file', MAIL_FROM: 'ada@example.org' };

  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consigliere-config-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function file(content: string | Uint8Array, name = 'secret'): Promise<string> {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  }

  const SECRETS = Object.entries(environment.shape)
    .filter(([, schema]) => notes.get(schema)?.secret)
    .map(([name]) => name);

  it('exists for every variable that is one', async () => {
    expect(SECRETS.length).toBeGreaterThan(5);
    const token = newOperatorToken();
    const values: Record<string, string> = {
      DATABASE_URL,
      DATABASE_READ_URL: DATABASE_URL,
      SECRETS_KEY,
      MODEL_API_KEY: 'sk-1',
      SMTP_URL: 'smtp://mail.example.com',
      BOOTSTRAP_OWNER_PASSWORD: 'a long pass phrase',
      BOOTSTRAP_TOKEN: token,
      PARTNER_SIGNING_SECRET: 'x'.repeat(32),
      OIDC_CLIENT_SECRET: 'a secret',
    };
    const { OIDC_CLIENT_SECRET: _secret, ...oidc } = OIDC;
    const others = { ...PRODUCTION, ...oidc, PUBLIC_URL: 'https://consigliere.example.com' };
    const files = await Promise.all(
      SECRETS.map(async (name) => [`${name}_FILE`, await file(`${values[name]}\n`, name)]),
    );
    const read = loadConfig({ ...Object.fromEntries(files), ...others });
    expect({ ...read }).toEqual({ ...loadConfig({ ...values, ...others }) });
    expect(read.bootstrapToken).toBe(token);
  });

  it.each([
    ['a line', 'a long pass phrase\n', 'a long pass phrase'],
    ['a line of Windows', 'a long pass phrase\r\n', 'a long pass phrase'],
    ['no end of a line', 'a long pass phrase', 'a long pass phrase'],
    ['spaces at its ends', '  a long pass phrase  \n', '  a long pass phrase  '],
  ])('is what stands in it: %s', async (_case, content, value) => {
    expect(loadConfig({ BOOTSTRAP_OWNER_PASSWORD_FILE: await file(content) }).bootstrapOwnerPassword).toBe(
      value,
    );
  });

  it('is refused beside the variable itself', async () => {
    const path = await file(SECRETS_KEY);
    const env = { DATABASE_URL, ...PRODUCTION, SECRETS_KEY, SECRETS_KEY_FILE: path };
    expect(faultsOf(env).faults).toEqual([
      { variable: 'SECRETS_KEY_FILE', message: 'must not be set together with SECRETS_KEY' },
    ]);
  });

  it.each([
    ['that does not exist', () => join(folder, 'none'), 'names a file that does not exist'],
    ['that is a folder', () => folder, 'names a folder'],
    ['that is empty', () => file(''), 'names an empty file'],
    ['that holds an empty line', () => file('\n'), 'names an empty file'],
    ['that has no end', () => '/dev/zero', 'names something that is not a regular file'],
    ['that is too long', () => file('x'.repeat(65_537)), 'names a file of more than 65536 bytes'],
  ])('is refused by the name of its variable when it names a file %s', async (_case, path, message) => {
    const env = { DATABASE_URL, ...PRODUCTION, SECRETS_KEY_FILE: await path() };
    expect(faultsOf(env).faults).toEqual([{ variable: 'SECRETS_KEY_FILE', message }]);
    expect(faultsOf(env).message).not.toContain(folder);
  });

  it('is held to the rules of its variable, and not repeated', async () => {
    const refused = faultsOf({ SECRETS_KEY_FILE: await file('not a key at all\n') });
    expect(refused.faults.map(({ variable }) => variable)).toEqual(['SECRETS_KEY']);
    expect(refused.message).not.toContain('not a key at all');
  });

  it('is unset when the variable is empty, and no file of another variable is read', async () => {
    const config = loadConfig({ SECRETS_KEY_FILE: '', PORT_FILE: await file('4000') });
    expect(config.secretsKey).toBeUndefined();
    expect(config.port).toBe(3000);
  });
});

describe('METRICS_PORT', () => {
  it.each([[{ METRICS_PORT: '3000' }], [{ PORT: '8080', METRICS_PORT: '8080' }]])(
    'is another port than PORT: %j',
    (env) => {
      expect(variablesAtFault(env)).toEqual(['METRICS_PORT']);
    },
  );

  it('may be chosen freely beside a PORT that is', () => {
    expect(loadConfig({ PORT: '0', METRICS_PORT: '0' })).toMatchObject({ port: 0, metricsPort: 0 });
  });
});

describe('the documentation of a variable', () => {
  it.each(Object.entries(environment.shape))('%s has a description and an example', (_name, schema) => {
    expect(notes.get(schema)?.description).toMatch(/\.$/);
    expect(notes.get(schema)?.example).not.toBe('');
  });

  const published = Object.entries(environment.shape).filter(([, schema]) => !notes.get(schema)?.secret);
  it.each(published)('%s has an example that works', (_name, schema) => {
    expect(schema.safeParse(notes.get(schema)?.example).error).toBeUndefined();
  });

  it.each(Object.entries(environment.shape))('%s says what happens when it is unset', (_name, schema) => {
    const hasDefault = schema.safeParse(undefined).data !== undefined;
    expect(notes.get(schema)?.whenUnset === undefined).toBe(hasDefault);
  });
});

describe('an operator token', () => {
  const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const made = Array.from({ length: 1000 }, newOperatorToken);
  const token = fc.constantFrom(...made);

  it('is cons_, 43 base62 characters and a checksum of 6, and never the same', () => {
    for (const text of made) {
      expect(text).toMatch(/^cons_[0-9A-Za-z]{49}$/);
      expect(isOperatorToken(text)).toBe(true);
    }
    expect(new Set(made).size).toBe(made.length);
  });

  it('keeps its checksum from one release to the next', () => {
    expect(isOperatorToken('cons_00000000000000000000000000000000000000000003JCJ8U')).toBe(true);
  });

  it('is refused with any one character changed', () => {
    fc.assert(
      fc.property(
        token,
        fc.nat({ max: 53 }),
        fc.constantFrom(...BASE62, '-', '_', 'é'),
        (text, at, character) => {
          fc.pre(text[at] !== character);
          expect(isOperatorToken(text.slice(0, at) + character + text.slice(at + 1))).toBe(false);
        },
      ),
    );
  });

  it('is refused with two neighbours swapped, cut short, or with anything around it', () => {
    fc.assert(
      fc.property(token, fc.integer({ min: 5, max: 52 }), fc.string({ minLength: 1 }), (text, at, more) => {
        fc.pre(text[at] !== text[at + 1]);
        expect(isOperatorToken(text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2))).toBe(false);
        expect(isOperatorToken(text.slice(0, at))).toBe(false);
        expect(isOperatorToken(text + more)).toBe(false);
        expect(isOperatorToken(more + text)).toBe(false);
      }),
    );
  });

  it('is never any other text', () => {
    const likeOne = fc.stringMatching(/^cons_[0-9A-Za-z]{49}$/); // right by chance once in 2^32
    fc.assert(
      fc.property(fc.oneof(likeOne, fc.string()), (text) => {
        expect(isOperatorToken(text)).toBe(false);
      }),
    );
    expect(isOperatorToken(`${newOperatorToken()}\n`)).toBe(false);
  });
});
