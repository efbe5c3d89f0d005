import { createApplication } from './application.js';
import { welcome } from './features/workspaces/welcome.js';
import { loadConfig } from './platform/config/config.js';
import { startEmbeddedPostgres } from './platform/embedded-postgres/embedded-postgres.js';
import { prepareDatabase } from './platform/database/prepare-database.js';
import { drainOnSignal, endSignal, listen } from './serve.js';

const config = loadConfig();
const signal = endSignal();
const embedded = config.databaseUrl
  ? undefined
  : await startEmbeddedPostgres({ dataDir: config.dataDir, log: (message) => console.error(message) });
try {
  const databaseUrl = config.databaseUrl ?? embedded!.url;
  await prepareDatabase(databaseUrl);
  const app = await createApplication(config, databaseUrl);
  welcome(await listen(app, config), app);
  await drainOnSignal(app, signal);
} finally {
  await embedded?.stop();
}
