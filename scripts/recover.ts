import { DataSource } from 'typeorm';
import { RecoverSecondFactor } from '../src/features/accounts/recover-second-factor.js';
import { RecoverOwner } from '../src/features/workspaces/recover-owner.js';
import { Tokens } from '../src/features/workspaces/tokens.repository.js';
import { Workspaces } from '../src/features/workspaces/workspaces.repository.js';
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
 * Makes a new token for the owner of a workspace (the first unless its id is the argument) and prints it once; with
 * `--second-factor <mail address>` it removes the second factor of that account instead. For people who may read the service's
 * settings on the server; it works beside the running service and without it.
 */
try {
  const config = loadConfig();
  const [option, email] = process.argv.slice(2);
  console.log(
    option === '--second-factor'
      ? await onDatabase(config, (url) => withDb(config, url, (db) => removeSecondFactor(db, email)))
      : await onDatabase(config, (url) => withDb(config, url, (db) => makeToken(db, option))),
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

async function makeToken(db: Db, workspace: string | undefined): Promise<string> {
  const clock = new Clock();
  const use = new RecoverOwner(db, new Workspaces(db), new Tokens(db), new Receipts(db, clock), clock);
  const { token, ownerName, workspaceId } = await use.execute(workspace);
  return `A new operator token for ${ownerName}, owner of ${workspaceId}. It is shown once:\n  ${token}\nOther tokens stay valid. Revoke a lost one: DELETE /api/pro/tokens/{tokenId}; GET /api/pro/tokens lists them.`;
}

async function removeSecondFactor(db: Db, email: string | undefined): Promise<string> {
  if (email === undefined) throw new StartRefused('Say whose: --second-factor <mail address>.');
  await new RecoverSecondFactor(db, new Clock()).execute(email);
  return `${email} has no second factor any more. All sessions of the account have ended; it signs in by its password.`;
}

async function withDb<T>(config: Config, ownerUrl: string, work: (db: Db) => Promise<T>): Promise<T> {
  await prepareDatabase(ownerUrl, { log: (line) => console.error(line) });
  await assertSecretsKey(config, ownerUrl);
  const url = await loginUrl(ownerUrl, secretsKey(config));
  const dataSource = await new DataSource({ ...appDataSource(url), entities: [TokenEntity] }).initialize();
  try {
    return await work(new Db(dataSource));
  } finally {
    await dataSource.destroy();
  }
}
