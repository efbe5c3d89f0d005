import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApplication } from './application.js';
import { welcome } from './features/workspaces/index.js';
import type { Config } from './platform/config/config.js';
import { assertOriginalDatabase } from './platform/database/original-database.js';
import { assertDatabase } from './platform/database/assert-database.js';
import { prepareDatabase } from './platform/database/prepare-database.js';
import { startEmbeddedPostgres } from './platform/embedded-postgres/embedded-postgres.js';
import { announceWait } from './platform/kernel/announce-wait.js';
import { PublicAddress } from './platform/http/public-address.js';
import { StartOutput } from './platform/observability/start-output.js';
import { listen, processEnd, serveUntil } from './serve.js';
import { asStartRefused } from './start-checks.js';

/** Serves until it is to end; without DATABASE_URL, over a database of its own. */
export async function run(config: Config): Promise<void> {
  const output = new StartOutput();
  const end = processEnd((error, requestId) => output.fault(error, { requestId }));
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres({ dataDir: config.dataDir, log: (message) => output.info(message) });
  embedded?.keepRunning();
  try {
    const starting = start(config, config.databaseUrl ?? embedded!.url, output);
    const app = await Promise.race([starting, end.asked]);
    if (!app) return output.info('Stopped before it was ready.');
    welcome(app.get(PublicAddress).url, app, output);
    await serveUntil(end, app, config.drainSeconds, () =>
      output.info('Stopping. Requests that were taken are answered first.', {
        drainSeconds: config.drainSeconds,
      }),
    );
  } finally {
    await embedded?.stop();
  }
  output.info('Consigliere has stopped. Goodbye.');
}

/** The application, listening. */
async function start(
  config: Config,
  databaseUrl: string,
  output: StartOutput,
): Promise<NestExpressApplication> {
  const log = (message: string) => output.info(message);
  try {
    await assertDatabase(databaseUrl, log);
    await prepareDatabase(databaseUrl, { log });
    return await announceWait(
      'the database to answer what the application asks at its start',
      log,
      async () => {
        const warning = await assertOriginalDatabase(databaseUrl, config);
        if (warning !== undefined) output.warn(warning);
        const app = await createApplication(config, databaseUrl);
        await listen(app, config);
        return app;
      },
    );
  } catch (error) {
    throw asStartRefused(error, config, databaseUrl);
  }
}
