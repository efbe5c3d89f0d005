import type { Server } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import helmet from 'helmet';
import { Logger } from 'nestjs-pino';
import type { DestinationStream } from 'pino';
import { AppModule } from './app.module.js';
import type { Config } from './platform/config/config.js';
import { DatabaseAddress } from './platform/database/database-address.js';
import { loginUrl } from './platform/database/login-role.js';
import { BrokenRequests } from './platform/http/broken-requests.js';
import { openApiDocument } from './platform/http/documentation.js';
import { Documentation } from './platform/http/documentation.controller.js';
import { requireHost, startRequest } from './platform/http/start-request.js';
import { Metrics } from './platform/observability/metrics.controller.js';
import { assertSecretsKey } from './platform/receipts/assert-secrets-key.js';
import { secretsKey } from './platform/secrets/secret-box.js';

/** The application, wired but not listening; tests start it the same way as main.ts does. */
export async function createApplication(
  config: Config,
  databaseUrl: string,
  logs?: DestinationStream,
): Promise<NestExpressApplication> {
  await assertSecretsKey(config, databaseUrl);
  const address = new DatabaseAddress(databaseUrl, await loginUrl(databaseUrl, secretsKey(config)));
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config, address, logs),
    // Bodies are read in admission, after who calls is known.
    { bodyParser: false, logger: ['error', 'warn'], abortOnError: false },
  );
  app.set('trust proxy', config.trustProxy);
  app.set('query parser', 'simple');
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(startRequest, app.get(Metrics).observe, helmet(), requireHost);
  app.get(BrokenRequests).answer(app.getHttpServer() as Server);
  app.get(Documentation).madeBy(() => openApiDocument(app));
  await app.init();
  app.useLogger(app.get(Logger));
  return app;
}
