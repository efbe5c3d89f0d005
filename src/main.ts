import { createApplication } from './application.js';
import { welcome } from './features/workspaces/welcome.js';
import { loadConfig } from './platform/config/config.js';
import { StartRefused } from './platform/kernel/start-refused.js';
import { prepareDatabase } from './platform/database/prepare-database.js';
import { startEmbeddedPostgres } from './platform/embedded-postgres/embedded-postgres.js';
import { drainOnSignal, endSignal, listen } from './serve.js';

try {
  await run();
} catch (error) {
  if (!(error instanceof StartRefused)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const config = loadConfig();
  const signal = endSignal();
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres({ dataDir: config.dataDir, log: (message) => console.error(message) });
  embedded?.keepRunning();
  try {
    const databaseUrl = config.databaseUrl ?? embedded!.url;
    await prepareDatabase(databaseUrl);
    const app = await createApplication(config, databaseUrl);
    welcome(await listen(app, config), app);
    await drainOnSignal(app, signal);
  } finally {
    await embedded?.stop();
  }
}
