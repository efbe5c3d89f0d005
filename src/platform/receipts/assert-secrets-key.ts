import type { Config } from '../config/config.js';
import { BOUNDED, openConnection } from '../database/sessions.js';
import { StartRefused } from '../kernel/start-refused.js';
import { SecretBox } from '../secrets/secret-box.js';
import { purposeOf } from './signing-keys.js';

/**
 * Compares SECRETS_KEY with what the database keeps sealed, before anything depends on it: the role that the program logs
 * in as follows from the key, and deliveries with a secret that does not open would fail one by one, hours later.
 * Signing keys are there from the first start on. One that opens is enough: somebody may have added others.
 *
 * @throws StartRefused
 */
export async function assertSecretsKey(config: Config, databaseUrl: string): Promise<void> {
  const owner = await openConnection(databaseUrl, 'consigliere start', BOUNDED);
  try {
    const { rows } = await owner.query<{ key_id: string; sealed: string }>(
      'select key_id, sealed_private_key as sealed from signing_keys',
    );
    const box = new SecretBox(config);
    if (rows.length === 0 || rows.some(({ key_id, sealed }) => opens(box, sealed, purposeOf(key_id)))) return;
  } finally {
    await owner.end();
  }
  throw new StartRefused(
    'SECRETS_KEY cannot decrypt the secrets in this database. Start with the SECRETS_KEY of the first start; if none ' +
      'was set then, leave it unset and use the DATA_DIR that contains its secrets.key.',
  );
}

function opens(box: SecretBox, sealed: string, purpose: string): boolean {
  try {
    box.open(sealed, purpose);
    return true;
  } catch {
    return false;
  }
}
