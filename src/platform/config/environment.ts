import { isIP } from 'node:net';
import { z } from 'zod';
import { newPasswordLengthFault } from '../auth/new-password.js';
import { isId } from '../kernel/ids.js';
import { mailDomain } from '../kernel/mail-address.js';
import { isOperatorToken } from '../kernel/operator-token.js';

/** What docs/reference/configuration.md and `.env.example` say about a variable; its default comes from the schema itself. */
export interface VariableNotes {
  description: string;
  /** A value that works, but for credentials: one that is published is none. */
  example: string;
  /** What happens when it is not set, where the schema has no default of its own. */
  whenUnset?: string;
  /** Holds a credential: keep it out of files that others can read. */
  secret?: boolean;
}

/** The notes of every variable of {@link environment}. */
export const notes = z.registry<VariableNotes>();

// Messages say what a value must be and never repeat it: a secret may sit in the wrong variable.

function wholeNumber(from: number, to: number) {
  const message = `must be a whole number from ${from} to ${to}`;
  return z
    .string()
    .regex(/^(0|[1-9]\d{0,8})$/, message)
    .transform(Number)
    .refine((number) => number >= from && number <= to, message);
}

/** An amount of money, to a millionth. */
function amount() {
  return z
    .string()
    .regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be a decimal number below 1,000,000 with at most 6 decimals')
    .transform(Number);
}

function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

function url(schemes: readonly string[], message: string) {
  return z.string().refine((text) => {
    const parsed = URL.parse(text);
    return parsed !== null && schemes.includes(parsed.protocol) && !/\s/.test(text);
  }, message);
}

function plainUrl() {
  return url(['http:', 'https:'], 'must be an http or https URL').refine((text) => {
    const parsed = URL.parse(text);
    return parsed === null || (parsed.username === '' && parsed.password === '' && !/[?#]/.test(text));
  }, 'must have no user name, password, query or fragment');
}

/** An address to which paths are appended. */
function baseUrl() {
  return plainUrl().transform((text) => text.replace(/\/+$/, ''));
}

/** Issuers that sign for every organisation in the world, where each could name anybody's address. */
function isOfManyTenants(text: string): boolean {
  const parsed = URL.parse(text);
  return (
    parsed?.hostname === 'login.microsoftonline.com' &&
    /^\/(common|organizations|consumers)(\/|$)/i.test(parsed.pathname)
  );
}

function mailDomains() {
  const message = 'must be a comma-separated list of mail domains';
  return z.string().transform((text, context) => {
    const domains = text.split(',').map((entry) => mailDomain(entry.trim()));
    if (domains.every((domain) => domain !== undefined)) return [...new Set(domains)];
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** Text for a person or a file name: one line of it. */
function line(maximum: number) {
  const message = `must be 1 to ${maximum} characters on one line`;
  return z.string().regex(new RegExp(`^[^\\p{Cc}\\p{Zl}\\p{Zp}]{1,${maximum}}$`, 'u'), message);
}

/** Receivers in one way of writing: as the host and port of a URL, the port always there. */
function hostPorts() {
  const message = 'must be a comma-separated list of host:port';
  return z.string().transform((text, context) => {
    const entries = text.split(',').map((entry) => hostPort(entry.trim()));
    if (entries.every((entry) => entry !== undefined)) return entries;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function hostPort(text: string): string | undefined {
  const [, host = '', port = ''] = /^([\p{L}\p{N}._-]+|\[[\da-f:.]+\]):(\d{1,5})$/iu.exec(text) ?? [];
  const parsed = URL.parse(`http://${host}`);
  const number = Number(port);
  return parsed && number >= 1 && number <= 65_535 ? `${parsed.hostname}:${number}` : undefined;
}

/** Raw Ed25519 public keys, as `npm run licence -- keys` prints them. */
function publicKeys() {
  const message = 'must be one to ten Ed25519 public keys of 32 bytes in base64url, with commas between';
  return z.string().transform((text, context) => {
    const keys = text.split(',').map((key) => key.trim());
    if (keys.length <= 10 && keys.every(isPublicKey)) return keys;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function isPublicKey(text: string): boolean {
  return /^[A-Za-z\d_-]{43}$/.test(text) && Buffer.from(text, 'base64url').toString('base64url') === text;
}

/** Who may sign skill packs: `publisher=key`, as `npm run skill-pack -- keys` prints them. */
function publishers() {
  const message =
    'must be one to fifty publishers with their Ed25519 public keys, as publisher=key with commas between';
  return z.string().transform((text, context) => {
    const entries = text.split(',').map((entry) => entry.trim());
    if (entries.length <= 50 && entries.every(isPublisher)) return entries;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function isPublisher(entry: string): boolean {
  const [, name = '', key = ''] = /^([^=]+)=(.+)$/.exec(entry) ?? [];
  return PUBLISHER.test(name) && isPublicKey(key);
}

/** As the names of packs and skills: no two of them look alike by their letters' cases or alphabets. */
const PUBLISHER = /^(?=.{1,64}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

const isHostName = (text: string) =>
  text.length <= 253 && /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i.test(text);

const mailbox = z.email({ error: 'must be a mail address' });

/** `name@host` or `Name <name@host>`; an encoded word (RFC 2047) would be read as another name than stands here. */
function isMailFrom(text: string): boolean {
  const address = /^(?!.*=\?)[^<>\p{Cc}]*<([^<>]+)>$/u.exec(text)?.[1] ?? text;
  return mailbox.safeParse(address).success;
}

/**
 * Every environment variable that the service reads, in the order of the documentation. The reference and `.env.example`
 * are generated from it (scripts/generate-config-docs.ts).
 */
export const environment = z.object({
  NODE_ENV: oneOf(['development', 'test', 'production']).default('development').register(notes, {
    description: '`production` requires what a deployment needs, such as `SECRETS_KEY` with `DATABASE_URL`.',
    example: 'production',
  }),
  PROCESS_ROLE: oneOf(['all', 'api', 'worker']).default('all').register(notes, {
    description:
      'What this process does: answer requests (`api`), do the work that is due (`worker`) or both (`all`).',
    example: 'api',
  }),
  HOST: z
    .string()
    .refine((text) => isIP(text) !== 0 || isHostName(text), 'must be an IP address or a host name')
    .default('127.0.0.1')
    .register(notes, {
      description: 'The address to listen on; `0.0.0.0` for all network interfaces.',
      example: '0.0.0.0',
    }),
  PORT: wholeNumber(0, 65_535)
    .default(3000)
    .register(notes, { description: 'The port to listen on; `0` chooses any free one.', example: '8080' }),
  METRICS_PORT: wholeNumber(0, 65_535).optional().register(notes, {
    description:
      'A port for `/metrics` alone, at the same `HOST`; the service then answers it nowhere else. `0` chooses any free one.',
    example: '9464',
    whenUnset: '`/metrics` is answered on `PORT`, to everyone who reaches it',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl().optional().register(notes, {
    description:
      'An OpenTelemetry collector that takes OTLP over HTTP: requests, work, model calls, mails and webhooks are sent there as traces (docs/guides/tracing.md).',
    example: 'http://localhost:4318',
    whenUnset: 'nothing is traced',
  }),
  PUBLIC_URL: baseUrl().optional().register(notes, {
    description: 'Where people and clients reach the service; links in mail and events start with it.',
    example: 'https://consigliere.example.com',
    whenUnset: 'the address it listens on',
  }),
  TRUST_PROXY: wholeNumber(0, 10).default(0).register(notes, {
    description:
      'How many proxies stand in front: so many entries of `X-Forwarded-For`, counted from the right, are believed.',
    example: '1',
  }),
  DRAIN_SECONDS: wholeNumber(0, 600).optional().register(notes, {
    description:
      'How long a process that was told to end is not ready but still serves, until every balancer in front of it has noticed.',
    example: '15',
    whenUnset: '`5` in production, else `0`',
  }),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .register(notes, { description: 'The least severe log line that is written.', example: 'debug' }),
  DATA_DIR: line(4096).default('.data').register(notes, {
    description:
      'Folder of the embedded database, generated keys, credentials and, in `outbox`, mail that is written to files.',
    example: '/var/lib/consigliere',
  }),
  DATABASE_URL: url(['postgres:', 'postgresql:'], 'must be a postgres or postgresql URL')
    .optional()
    .register(notes, {
      description: 'The PostgreSQL server (15 or newer) and database, as a user that may create roles.',
      example: 'postgres://consigliere:password@localhost:5432/consigliere',
      whenUnset: 'an embedded PostgreSQL in `DATA_DIR`',
      secret: true,
    }),
  DATABASE_READ_URL: url(['postgres:', 'postgresql:'], 'must be a postgres or postgresql URL')
    .optional()
    .register(notes, {
      description:
        'A streaming replica of `DATABASE_URL`, for the reads that docs/scaling.md lists. The service logs in as it does there, whatever user is named.',
      example: 'postgres://replica.example.com:5432/consigliere',
      whenUnset: 'the primary answers every read',
      secret: true,
    }),
  DATABASE_READ_LAG_SECONDS: wholeNumber(1, 3_600).default(5).register(notes, {
    description: 'How late the replica may be, in seconds; while it is later, the primary answers.',
    example: '30',
  }),
  RESTORED_DATABASE: z
    .string()
    .regex(
      /^\d{1,20}-\d{1,10}$/,
      'must be the two numbers, with a hyphen between, that the refused start shows',
    )
    .optional()
    .register(notes, {
      description:
        'After a restore (docs/guides/backup.md): the database that may do the work which waited in the backup, as the refused start names it.',
      example: '7431960251904123456-16390',
      whenUnset: 'a restored database does no work',
    }),
  RATE_LIMIT_STORE: oneOf(['memory', 'postgres', 'automatic']).optional().register(notes, {
    description:
      'Where requests are counted: `memory` is exact for one process only; `automatic` is memory until a second process uses the database.',
    example: 'postgres',
    whenUnset: '`automatic` for the embedded database with `PROCESS_ROLE=all`, else `postgres`',
  }),
  SECRETS_KEY: z
    .string()
    .regex(/^[A-Za-z\d+/_-]{43}=?$/, 'must be 32 bytes in base64, as printed by: openssl rand -base64 32')
    .optional()
    .register(notes, {
      description: 'The key that encrypts stored secrets: 32 bytes in base64 (`openssl rand -base64 32`).',
      example: '<32 bytes in base64>',
      whenUnset: 'made and kept in `DATA_DIR`; required with `DATABASE_URL` in production',
      secret: true,
    }),
  MODEL_PROVIDER: oneOf(['builtin', 'openai', 'anthropic', 'openai-compatible'])
    .default('builtin')
    .register(notes, {
      description: 'Who drafts: `builtin` needs no key and no network and follows fixed rules.',
      example: 'anthropic',
    }),
  MODEL_BASE_URL: baseUrl().optional().register(notes, {
    description: 'The address of the model API; required for `openai-compatible`.',
    example: 'http://localhost:11434/v1',
    whenUnset: "the provider's own",
  }),
  MODEL_API_KEY: line(4096).optional().register(notes, {
    description: 'The key of the model API; required for `openai` and `anthropic`.',
    example: 'sk-...',
    whenUnset: 'none is sent',
    secret: true,
  }),
  MODEL_NAME: line(200).optional().register(notes, {
    description: 'The model to use, in the words of the provider; required unless the provider is `builtin`.',
    example: 'claude-sonnet-4-5',
    whenUnset: 'none',
  }),
  MODEL_MAX_TOKENS: wholeNumber(256, 1_000_000).default(16_000).register(notes, {
    description: 'How many tokens the model may write for one answer, its reasoning included.',
    example: '4000',
  }),
  MODEL_TIMEOUT_SECONDS: wholeNumber(1, 3_600).default(120).register(notes, {
    description:
      'How long the model may take for one draft, in seconds; a model on a small machine needs more.',
    example: '600',
  }),
  REPORT_SECTION_SECONDS: wholeNumber(1, 600).default(90).register(notes, {
    description:
      'How long capos may take for the sections that a workspace has added to its Daily Report, in seconds; what is not written by then is marked, and the report goes out without it.',
    example: '180',
  }),
  MODEL_PRICE_INPUT: amount().optional().register(notes, {
    description: 'What the model costs, in US dollars per million tokens that it reads.',
    example: '3',
    whenUnset: 'unknown; directives then cost 0',
  }),
  MODEL_PRICE_OUTPUT: amount().optional().register(notes, {
    description: 'What the model costs, in US dollars per million tokens that it writes.',
    example: '15',
    whenUnset: 'unknown; directives then cost 0',
  }),
  SMTP_URL: url(['smtp:', 'smtps:'], 'must be an smtp or smtps URL').optional().register(notes, {
    description:
      'The mail server, with user name and password if it asks for them. With `smtp://` they are sent only once the connection is encrypted (STARTTLS), unless the server is on this machine; `?requireTLS=false` sends them in clear.',
    example: 'smtps://user:password@mail.example.com:465',
    whenUnset:
      'mail is written to `DATA_DIR/outbox` as `.eml` files; production then requires `MAIL_TRANSPORT=file`',
    secret: true,
  }),
  MAIL_TRANSPORT: oneOf(['smtp', 'file']).optional().register(notes, {
    description:
      'How mail leaves: `smtp` sends it over `SMTP_URL`; `file` writes it to files and sends nothing, which production refuses unless it is chosen here.',
    example: 'smtp',
    whenUnset: '`smtp` when `SMTP_URL` is set, else `file`',
  }),
  MAIL_FROM: line(320)
    .refine(isMailFrom, 'must be a mail address, with or without a name: Name <name@example.com>')
    .default('Consigliere <consigliere@example.com>')
    .register(notes, {
      description: 'The sender of every mail; production refuses an address at example.com.',
      example: 'Consigliere <consigliere@example.org>',
    }),
  OUTBOUND_ALLOW: hostPorts().optional().register(notes, {
    description:
      'Receivers of your own, as `host:port` with commas between: events may go there although they are not at public addresses or speak plain http.',
    example: 'receiver.internal:8080,localhost:9000',
    whenUnset: 'public https addresses only',
  }),
  CONNECTORS_FILE: line(4096).optional().register(notes, {
    description:
      'A JSON file of operations at other services that the capos may call (docs/guides/connectors.md). It names its secrets by environment variables of their own.',
    example: '/etc/consigliere/connectors.json',
    whenUnset: 'nothing but registered webhooks and mail is called',
  }),
  BOOTSTRAP_WORKSPACE: line(100).default('My workspace').register(notes, {
    description: 'The name of the workspace that the first start makes.',
    example: 'Acme',
  }),
  BOOTSTRAP_OWNER_EMAIL: mailbox.default('owner@example.com').register(notes, {
    description: 'The mail address, and sign-in name, of its owner.',
    example: 'ada@example.org',
  }),
  BOOTSTRAP_OWNER_NAME: line(100).optional().register(notes, {
    description:
      'The name of its owner: a model signs with it unless `PUT /settings` names another sender (`sender.name`).',
    example: 'Ada Lovelace',
    whenUnset: 'made from the mail address: `ada.lovelace@...` is Ada Lovelace',
  }),
  BOOTSTRAP_OWNER_PASSWORD: z
    .string()
    .superRefine((password, context) => {
      const fault = newPasswordLengthFault(password);
      if (fault !== undefined) context.addIssue({ code: 'custom', message: `must ${fault}` });
    })
    .optional()
    .register(notes, {
      description: 'The password of its owner, 10 to 200 characters, and none that is easily guessed.',
      example: '<a long pass phrase>',
      whenUnset: 'generated and kept in `DATA_DIR/credentials.json`',
      secret: true,
    }),
  BOOTSTRAP_TOKEN: z
    .string()
    .refine(
      isOperatorToken,
      'must be an operator token: cons_, 43 base62 characters and their checksum of 6; leave it unset to have one made',
    )
    .optional()
    .register(notes, {
      description: 'The first operator token.',
      example: 'cons_...',
      whenUnset: 'generated and kept in `DATA_DIR/credentials.json`; shown once at a terminal',
      secret: true,
    }),
  BOOTSTRAP_TIER: oneOf(['free', 'pro', 'enterprise']).default('pro').register(notes, {
    description:
      'The tier of the first workspace while no licence is installed; it sets the limits on requests. Who issues licences sets `free`.',
    example: 'enterprise',
  }),
  LICENCE_PUBLIC_KEY: publicKeys().optional().register(notes, {
    description:
      'Who may issue licences (docs/guides/licences.md): their Ed25519 public keys, with commas between where one replaces another.',
    example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    whenUnset: 'no licence can be checked, and each workspace keeps its tier',
  }),
  SKILL_PACK_PUBLISHERS: publishers().optional().register(notes, {
    description:
      'Whose skill packs may be installed (docs/guides/skill-packs.md): publishers with their Ed25519 public keys, with commas between. One publisher may have several keys.',
    example: 'acme=11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    whenUnset: 'no skill pack can be installed',
  }),
  SKILL_PACK_REVOCATIONS: line(4096).optional().register(notes, {
    description:
      'A JSON file of signed lists in which publishers revoke packs of theirs. It is read again whenever it changes.',
    example: '/etc/consigliere/revocations.json',
    whenUnset: 'packs end when an admin uninstalls them',
  }),
  PARTNER_SIGNING_SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .max(256, 'must have at most 256 characters')
    .optional()
    .register(notes, {
      description:
        'What the partner persona service signs its updates for the first workspace with, 16 to 256 characters. A new value takes over at the next start; the previous one stays valid for 24 hours.',
      example: '<32 random bytes in base64>',
      whenUnset: 'generated by the first start and kept in `DATA_DIR/credentials.json`',
      secret: true,
    }),
  OIDC_ISSUER: plainUrl()
    .refine(
      (text) => !isOfManyTenants(text),
      'must name one tenant: https://login.microsoftonline.com/<tenant id>/v2.0',
    )
    .optional()
    .register(notes, {
      description:
        'Turns on sign-in by OpenID Connect: the issuer, spelled exactly as the provider spells it (docs/guides/sign-in-with-openid-connect.md). Plain http only where `OUTBOUND_ALLOW` lists its host and port.',
      example: 'https://login.example.com/realms/acme',
      whenUnset: 'people sign in by password only',
    }),
  OIDC_CLIENT_ID: line(200).optional().register(notes, {
    description: 'What the provider calls this service; required with `OIDC_ISSUER`.',
    example: 'consigliere',
    whenUnset: 'none',
  }),
  OIDC_CLIENT_SECRET: line(4096).optional().register(notes, {
    description: 'The secret that the provider gave this service; required with `OIDC_ISSUER`.',
    example: '<the secret of the client>',
    whenUnset: 'none',
    secret: true,
  }),
  OIDC_DOMAINS: mailDomains().optional().register(notes, {
    description:
      'The mail domains of your organisation, with commas between; required with `OIDC_ISSUER`. Only verified addresses of exactly these domains may sign in; a subdomain counts when it is listed.',
    example: 'example.com,example.org',
    whenUnset: 'none',
  }),
  OIDC_WORKSPACE: z
    .string()
    .refine((text) => isId('wks', text), 'must be the id of a workspace: wks_ and 26 characters')
    .optional()
    .register(notes, {
      description: 'The workspace that people sign in to by OpenID Connect.',
      example: 'wks_01kerpxzkz8m1c3v5b7n9q2w4e',
      whenUnset: 'the first workspace',
    }),
  OIDC_NAME: line(60).optional().register(notes, {
    description: 'What the provider is called on the page where people choose how to sign in.',
    example: 'Acme account',
    whenUnset: 'the host of `OIDC_ISSUER`',
  }),
});

/** The variables after validation, with defaults in place. */
export type Environment = z.output<typeof environment>;
