import { resolve } from 'node:path';
import { StartRefused } from '../kernel/start-refused.js';
import { hostPort } from '../outbound/destination-rules.js';
import { type ConfigFault, withSecretFiles } from './secret-files.js';
import { type ConnectorsFile, readConnectorsFile } from './connectors-file.js';
import { environment, type Environment } from './environment.js';

/** The environment cannot be used; names every variable at fault and repeats no value. */
export class ConfigInvalid extends StartRefused {
  constructor(readonly faults: readonly ConfigFault[]) {
    super(
      `Consigliere cannot start with these settings:\n${faults.map(({ variable, message }) => `  ${variable} ${message}`).join('\n')}`,
    );
  }
}

/**
 * What the operator of this process decided, read once from the environment. Frozen; inject it by its class.
 * Every field is the variable of the same name, documented in environment.ts.
 */
export class Config {
  readonly nodeEnv: Environment['NODE_ENV'];
  readonly processRole: Environment['PROCESS_ROLE'];
  readonly host: string;
  readonly port: number;
  /** Undefined: `/metrics` is answered on `port`. */
  readonly metricsPort: number | undefined;
  /** Undefined: nothing is traced. */
  readonly otelExporterOtlpEndpoint: string | undefined;
  readonly publicUrl: string | undefined;
  readonly trustProxy: number;
  readonly drainSeconds: number;
  readonly logLevel: Environment['LOG_LEVEL'];
  /** Absolute. */
  readonly dataDir: string;
  /** Undefined: the embedded database. */
  readonly databaseUrl: string | undefined;
  /** Undefined: the primary answers every read. */
  readonly databaseReadUrl: string | undefined;
  readonly databaseReadLagSeconds: number;
  /** As `database_identity` spells it. */
  readonly restoredDatabase: string | undefined;
  /** `automatic`: memory while this is the only process of its database. */
  readonly rateLimitStore: 'memory' | 'postgres' | 'automatic';
  /** 32 bytes in base64. */
  readonly secretsKey: string | undefined;
  readonly modelProvider: Environment['MODEL_PROVIDER'];
  readonly modelBaseUrl: string | undefined;
  readonly modelApiKey: string | undefined;
  readonly modelName: string | undefined;
  readonly modelMaxTokens: number;
  readonly modelTimeoutSeconds: number;
  readonly reportSectionSeconds: number;
  /** US dollars per million tokens; both prices are known or none. */
  readonly modelPriceInput: number | undefined;
  readonly modelPriceOutput: number | undefined;
  readonly smtpUrl: string | undefined;
  readonly mailTransport: 'smtp' | 'file';
  readonly mailFrom: string;
  /** Each as `host:port`, in the writing of the WHATWG URL standard. */
  readonly outboundAllow: readonly string[];
  /** Undefined: there are no connectors. */
  readonly connectorsFile: ConnectorsFile | undefined;
  readonly bootstrapWorkspace: string;
  readonly bootstrapOwnerEmail: string;
  readonly bootstrapOwnerName: string | undefined;
  readonly bootstrapOwnerPassword: string | undefined;
  readonly bootstrapToken: string | undefined;
  readonly bootstrapTier: Environment['BOOTSTRAP_TIER'];
  /** Each 32 bytes in base64url; none: no licence can be checked. */
  readonly licencePublicKeys: readonly string[];
  /** Each with one of their keys, 32 bytes in base64url; none: no skill pack can be installed. */
  readonly skillPackPublishers: readonly { readonly name: string; readonly publicKey: string }[];
  /** Absolute. Undefined: no list of revocations. */
  readonly skillPackRevocations: string | undefined;
  readonly partnerSigningSecret: string | undefined;
  /** Undefined: nobody signs in by OpenID Connect. With it, client id, secret and domains are there too. */
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcClientSecret: string | undefined;
  /** Each as `mailDomain` writes it. */
  readonly oidcDomains: readonly string[];
  /** Undefined: the first workspace. */
  readonly oidcWorkspace: string | undefined;
  readonly oidcName: string | undefined;

  constructor(values: Environment, connectorsFile?: ConnectorsFile) {
    this.nodeEnv = values.NODE_ENV;
    this.processRole = values.PROCESS_ROLE;
    this.host = values.HOST;
    this.port = values.PORT;
    this.metricsPort = values.METRICS_PORT;
    this.otelExporterOtlpEndpoint = values.OTEL_EXPORTER_OTLP_ENDPOINT;
    this.publicUrl = values.PUBLIC_URL;
    this.trustProxy = values.TRUST_PROXY;
    this.drainSeconds = values.DRAIN_SECONDS ?? (values.NODE_ENV === 'production' ? 5 : 0);
    this.logLevel = values.LOG_LEVEL;
    this.dataDir = resolve(values.DATA_DIR);
    this.databaseUrl = values.DATABASE_URL && withVerifiedServer(values.DATABASE_URL);
    this.databaseReadUrl = values.DATABASE_READ_URL && withVerifiedServer(values.DATABASE_READ_URL);
    this.databaseReadLagSeconds = values.DATABASE_READ_LAG_SECONDS;
    this.restoredDatabase = values.RESTORED_DATABASE;
    this.rateLimitStore = values.RATE_LIMIT_STORE ?? defaultRateLimitStore(values);
    this.secretsKey = values.SECRETS_KEY;
    this.modelProvider = values.MODEL_PROVIDER;
    this.modelBaseUrl = values.MODEL_BASE_URL;
    this.modelApiKey = values.MODEL_API_KEY;
    this.modelName = values.MODEL_NAME;
    this.modelMaxTokens = values.MODEL_MAX_TOKENS;
    this.modelTimeoutSeconds = values.MODEL_TIMEOUT_SECONDS;
    this.reportSectionSeconds = values.REPORT_SECTION_SECONDS;
    this.modelPriceInput = values.MODEL_PRICE_INPUT;
    this.modelPriceOutput = values.MODEL_PRICE_OUTPUT;
    this.smtpUrl = values.SMTP_URL;
    this.mailTransport = values.MAIL_TRANSPORT ?? (values.SMTP_URL === undefined ? 'file' : 'smtp');
    this.mailFrom = values.MAIL_FROM;
    this.outboundAllow = Object.freeze(values.OUTBOUND_ALLOW ?? []);
    this.connectorsFile = connectorsFile;
    this.bootstrapWorkspace = values.BOOTSTRAP_WORKSPACE;
    this.bootstrapOwnerEmail = values.BOOTSTRAP_OWNER_EMAIL;
    this.bootstrapOwnerName = values.BOOTSTRAP_OWNER_NAME;
    this.bootstrapOwnerPassword = values.BOOTSTRAP_OWNER_PASSWORD;
    this.bootstrapToken = values.BOOTSTRAP_TOKEN;
    this.bootstrapTier = values.BOOTSTRAP_TIER;
    this.licencePublicKeys = Object.freeze(values.LICENCE_PUBLIC_KEY ?? []);
    this.skillPackPublishers = Object.freeze((values.SKILL_PACK_PUBLISHERS ?? []).map(publisherIn));
    this.skillPackRevocations = values.SKILL_PACK_REVOCATIONS && resolve(values.SKILL_PACK_REVOCATIONS);
    this.partnerSigningSecret = values.PARTNER_SIGNING_SECRET;
    this.oidcIssuer = values.OIDC_ISSUER;
    this.oidcClientId = values.OIDC_CLIENT_ID;
    this.oidcClientSecret = values.OIDC_CLIENT_SECRET;
    this.oidcDomains = Object.freeze(values.OIDC_DOMAINS ?? []);
    this.oidcWorkspace = values.OIDC_WORKSPACE;
    this.oidcName = values.OIDC_NAME;
    Object.freeze(this); // deep, since every other field is a primitive or frozen itself
  }
}

/**
 * The configuration that `env` asks for, the process's own environment unless told otherwise. An empty variable is
 * an unset one, as in an env file with nothing after the `=`.
 *
 * @throws ConfigInvalid naming every fault at once
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { given, faults: unreadable } = withSecretFiles(
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== '')),
  );
  const parsed = environment.safeParse(given);
  const connectors = readConnectorsFile(given);
  const faults = [
    ...unreadable,
    ...connectors.faults,
    ...(parsed.error?.issues ?? []).map(({ path, message }) => ({ variable: String(path[0]), message })),
    ...missing(given).filter(({ variable }) => given[`${variable}_FILE`] === undefined),
    ...forbidden(given),
    ...clashes(given),
    ...plainIssuer(given),
  ];
  if (!parsed.success || faults.length > 0) throw new ConfigInvalid(faults);
  return new Config(parsed.data, connectors.file);
}

/** `publisher=key` in its parts. */
function publisherIn(entry: string): { readonly name: string; readonly publicKey: string } {
  const [name, publicKey] = entry.split('=') as [string, string];
  return Object.freeze({ name, publicKey });
}

/** What another variable forbids. */
function forbidden({ NODE_ENV: environmentName, MAIL_FROM: from = '' }: NodeJS.ProcessEnv): ConfigFault[] {
  if (environmentName !== 'production' || !/@([^@]+\.)?example\.com>?$/i.test(from)) return [];
  const message =
    'must not be an address at example.com when NODE_ENV=production: nobody receives mail there';
  return [{ variable: 'MAIL_FROM', message }];
}

const OIDC_REQUIRED = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_DOMAINS'] as const;
/** Setting one of these turns on sign-in by OpenID Connect. */
const OIDC = [...OIDC_REQUIRED, 'OIDC_CLIENT_SECRET_FILE', 'OIDC_WORKSPACE', 'OIDC_NAME'] as const;

/** What other variables make necessary. Looks at the variables as given, so that one fault does not hide another. */
function missing(given: NodeJS.ProcessEnv): ConfigFault[] {
  const { MODEL_PROVIDER: provider = 'builtin' } = given;
  const hosted = provider === 'openai' || provider === 'anthropic';
  const compatible = provider === 'openai-compatible';
  const oidc = OIDC.find((variable) => given[variable] !== undefined);
  const required: [variable: string, needed: boolean, message: string][] = [
    [
      'SECRETS_KEY',
      given.NODE_ENV === 'production' && given.DATABASE_URL !== undefined,
      'is required with DATABASE_URL when NODE_ENV=production: openssl rand -base64 32',
    ],
    ['DATABASE_URL', given.DATABASE_READ_URL !== undefined, 'is required when DATABASE_READ_URL is set'],
    ['SMTP_URL', given.MAIL_TRANSPORT === 'smtp', 'is required when MAIL_TRANSPORT=smtp'],
    [
      'SMTP_URL',
      given.NODE_ENV === 'production' && given.MAIL_TRANSPORT === undefined,
      'is required when NODE_ENV=production; to have mail written to files and sent to nobody, set MAIL_TRANSPORT=file',
    ],
    [
      'MAIL_FROM',
      given.NODE_ENV === 'production',
      'is required when NODE_ENV=production: the address that mail is sent from',
    ],
    ['MODEL_API_KEY', hosted, `is required when MODEL_PROVIDER=${provider}`],
    ['MODEL_NAME', hosted || compatible, `is required when MODEL_PROVIDER=${provider}`],
    ['MODEL_BASE_URL', compatible, `is required when MODEL_PROVIDER=${provider}`],
    [
      'MODEL_PRICE_INPUT',
      given.MODEL_PRICE_OUTPUT !== undefined,
      'is required when MODEL_PRICE_OUTPUT is set',
    ],
    [
      'MODEL_PRICE_OUTPUT',
      given.MODEL_PRICE_INPUT !== undefined,
      'is required when MODEL_PRICE_INPUT is set',
    ],
    ...OIDC_REQUIRED.map((variable): [string, boolean, string] => [
      variable,
      oidc !== undefined,
      `is required when ${oidc} is set`,
    ]),
    [
      'PUBLIC_URL',
      oidc !== undefined && given.NODE_ENV === 'production',
      `is required when ${oidc} is set and NODE_ENV=production: the provider sends people back there`,
    ],
  ];
  return required
    .filter(([variable, needed]) => needed && given[variable] === undefined)
    .map(([variable, , message]) => ({ variable, message }));
}

/** An issuer is asked by https, unless the operator vouches for the way to it. */
function plainIssuer({ OIDC_ISSUER: issuer = '', OUTBOUND_ALLOW: allow }: NodeJS.ProcessEnv): ConfigFault[] {
  const url = URL.parse(issuer);
  if (url?.protocol !== 'http:') return [];
  const allowed = environment.shape.OUTBOUND_ALLOW.safeParse(allow).data ?? [];
  if (allowed.includes(hostPort(url))) return [];
  const message = 'must be an https URL, unless OUTBOUND_ALLOW lists its host and port';
  return [{ variable: 'OIDC_ISSUER', message }];
}

/** What two variables cannot both be. */
function clashes({ PORT: port = '3000', METRICS_PORT: metricsPort }: NodeJS.ProcessEnv): ConfigFault[] {
  if (metricsPort === undefined || metricsPort !== port || port === '0') return [];
  return [{ variable: 'METRICS_PORT', message: 'must be another port than PORT' }];
}

/** The driver verifies the server in each of these modes, and warns of the next version, which will not. This pins what it does. */
function withVerifiedServer(url: string): string {
  return url.includes('uselibpqcompat=')
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** Memory counts exactly as long as no second process answers requests; over the embedded database there may be one. */
function defaultRateLimitStore(values: Environment): 'automatic' | 'postgres' {
  return values.DATABASE_URL === undefined && values.PROCESS_ROLE === 'all' ? 'automatic' : 'postgres';
}
