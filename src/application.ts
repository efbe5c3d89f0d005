import type { Server } from 'node:http';
import type { DynamicModule, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import helmet from 'helmet';
import { Logger } from 'nestjs-pino';
import type { DestinationStream } from 'pino';
import { AppModule } from './app.module.js';
import type { Config } from './platform/config/config.js';
import { DatabaseAddress } from './platform/database/database-address.js';
import { loginUrl, replicaLoginUrl } from './platform/database/login-role.js';
import { BrokenRequests } from './platform/http/broken-requests.js';
import { openApiDocument } from './platform/http/documentation.js';
import { Documentation } from './platform/http/documentation.controller.js';
import { endLineForCurl, requireHost, startRequest } from './platform/http/start-request.js';
import { Metrics } from './platform/observability/metrics.js';
import { Tracing } from './platform/observability/tracing.js';
import { assertSecretsKey } from './platform/receipts/assert-secrets-key.js';
import { secretsKey } from './platform/secrets/secret-box.js';

/** Helmet's default, without the upgrade to https that would break the assets of the reference page. */
function securityHeaders({ publicUrl }: Config) {
  const upgradeInsecureRequests = publicUrl?.startsWith('https:') ? [] : null;
  return helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests } } });
}

/** How Nest makes the application; tests make theirs with the same options. */
export const APPLICATION_OPTIONS: NestApplicationOptions = {
  // Bodies are read in admission, after who calls is known.
  bodyParser: false,
  logger: ['error', 'warn'],
  abortOnError: false,
};

/** The module at the root, once the login of the application's role is known to work. */
export async function rootModule(
  config: Config,
  databaseUrl: string,
  logs?: DestinationStream,
): Promise<DynamicModule> {
  await assertSecretsKey(config, databaseUrl);
  const key = secretsKey(config);
  const { databaseReadUrl } = config;
  const address = new DatabaseAddress(
    databaseUrl,
    await loginUrl(databaseUrl, key),
    databaseReadUrl && replicaLoginUrl(databaseReadUrl, databaseUrl, key),
  );
  return AppModule.forRoot(config, address, logs);
}

/** Puts in front of the routes what every request passes, and wires the application without listening. */
export async function initialise(
  app: NestExpressApplication,
  config: Config,
): Promise<NestExpressApplication> {
  app.set('trust proxy', config.trustProxy);
  app.set('query parser', 'simple');
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(startRequest, app.get(Metrics).observe, securityHeaders(config), requireHost, endLineForCurl);
  if (config.otelExporterOtlpEndpoint !== undefined) app.use(app.get(Tracing).observe);
  app.get(BrokenRequests).answer(app.getHttpServer() as Server);
  app.get(Documentation).madeBy(() => openApiDocument(app));
  try {
    await app.init();
  } catch (error) {
    // What is half made keeps connections and timers, and with them the process.
    await app.close().catch(() => undefined);
    throw error;
  }
  app.useLogger(app.get(Logger));
  return app;
}

/** The application, wired but not listening. */
export async function createApplication(
  config: Config,
  databaseUrl: string,
): Promise<NestExpressApplication> {
  const module = await rootModule(config, databaseUrl);
  return initialise(await NestFactory.create<NestExpressApplication>(module, APPLICATION_OPTIONS), config);
}
