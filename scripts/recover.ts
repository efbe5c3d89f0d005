import { DataSource } from 'typeorm';
import { RecoverOwner, type RecoveredToken } from '../src/features/workspaces/recover-owner.js';
import { Tokens } from '../src/features/workspaces/tokens.repository.js';
import { TokenEntity } from '../src/features/workspaces/workspaces.entity.js';
import { type Config, loadConfig } from '../src/platform/config/config.js';
import { appDataSource } from '../src/platform/database/data-source.js';
import { Db } from '../src/platform/database/db.js';
import { loginUrl } from '../src/platform/database/login-role.js';
import { prepareDatabase } from '../src/platform/database/prepare-database.js';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.js';
import { Clock } from '../src/platform/kernel/clock.js';
import { StartRefused } from '../src/platform/kernel/start-refused.js';
import { assertSecretsKey } from '../src/platform/receipts/assert-secrets-key.js';
import { Receipts } from '../src/platform/receipts/receipts.js';
import { secretsKey } from '../src/platform/secrets/secret-box.js';

/**
 * Makes a new token for the owner of a workspace (the first unless its id is the argument) and prints it once. For
 * whoever may read the service's settings on the server; it works beside the running service and without it.
 */
try {
  const config = loadConfig();
  const { token, ownerName, workspaceId } = await onDatabase(config, (url) => recover(config, url));
  console.log(
    `A new operator token for ${ownerName}, owner of ${workspaceId}. It is shown once:\n  ${token}`,
  );
} catch (error) {
  if (!(error instanceof StartRefused)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function onDatabase<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config.databaseUrl !== undefined) return work(config.databaseUrl);
  const embedded = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (line) => console.error(line),
  });
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}

async function recover(config: Config, ownerUrl: string): Promise<RecoveredToken> {
  await prepareDatabase(ownerUrl);
  await assertSecretsKey(config, ownerUrl);
  const url = await loginUrl(ownerUrl, secretsKey(config));
  const dataSource = await new DataSource({ ...appDataSource(url), entities: [TokenEntity] }).initialize();
  try {
    const [db, clock] = [new Db(dataSource), new Clock()];
    const use = new RecoverOwner(db, new Tokens(db), new Receipts(db, clock), clock);
    return await use.execute(process.argv[2]);
  } finally {
    await dataSource.destroy();
  }
}
