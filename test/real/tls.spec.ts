import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverUser } from '../../src/platform/embedded-postgres/user.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { certificateFor } from '../support/certificates.js';
import { machinePostgres, type MachineServer, startMachineServer } from '../support/machine-postgres.js';
import { ServiceProcess } from '../support/processes.js';

const programs = machinePostgres();
if (!programs) console.warn('skipped: TLS is not tried, since no PostgreSQL is installed on this machine');

describe.skipIf(!programs)('a database that is reached by TLS', () => {
  let server: MachineServer;
  let folder: string;
  let host: string;
  const SECRETS_KEY = randomBytes(32).toString('base64');
  const file = (name: string) => join(folder, name);
  /** The address of the database, at this name of the server and with these parameters. */
  const url = (hostname: string, query: string) => {
    const address = new URL(server.url);
    return `${Object.assign(address, { hostname, pathname: '/postgres' }).href}${query}`;
  };
  beforeAll(async () => {
    server = await startMachineServer(programs!);
    folder = await mkdtemp(join(tmpdir(), 'consigliere-tls-'));
    await chmod(folder, 0o755);
    const own = certificateFor('localhost');
    await writeFile(file('server.key'), own.key, { mode: 0o600 });
    await writeFile(file('server.pem'), own.cert);
    await writeFile(file('other.pem'), certificateFor('localhost').cert);
    await writeFile(file('broken.pem'), '-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n');
    const user = serverUser(undefined);
    if (user) await chown(file('server.key'), user.uid, user.gid);
    await server.run(`alter system set ssl_cert_file = '${file('server.pem')}'`);
    await server.run(`alter system set ssl_key_file = '${file('server.key')}'`);
    host = new URL(server.url).host;
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const start = (databaseUrl: string) =>
    ServiceProcess.start({
      NODE_ENV: 'test',
      DATABASE_URL: databaseUrl,
      DATA_DIR: file('data'),
      SECRETS_KEY,
      PORT: '0',
      BOOTSTRAP_TOKEN: newOperatorToken(),
    });
  /** All that the refused start says: a sentence, and neither a stack nor a warning of the driver. */
  async function refusal(databaseUrl: string): Promise<string> {
    const said = await start(databaseUrl).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    return /the program did not get ready:\n([^\n]*)\n\n\[/.exec(said)?.[1] ?? said;
  }

  it('that has no TLS: says so', async () => {
    expect(await refusal(url('localhost', '?sslmode=require'))).toBe(
      `PostgreSQL at ${host.replace('127.0.0.1', 'localhost')} does not speak TLS, which DATABASE_URL asks for. Remove ssl and sslmode from DATABASE_URL, or turn TLS on at the server.`,
    );
  });

  describe('and has a certificate', () => {
    beforeAll(async () => {
      await server.run('alter system set ssl = on');
      await server.run('select pg_reload_conf()');
    });

    it.each([
      [
        'of an authority that nobody knows',
        'localhost',
        () => '?sslmode=require',
        /signed by an authority that this machine does not know .*sslrootcert=/,
      ],
      [
        'of another authority than the one named',
        'localhost',
        () => `?sslmode=verify-full&sslrootcert=${file('other.pem')}`,
        /is not signed by the authority in \S+other\.pem .*Correct sslrootcert/,
      ],
      [
        'of an authority in a file that is missing',
        'localhost',
        () => `?sslmode=verify-full&sslrootcert=${file('missing.pem')}`,
        /^The file \S+missing\.pem that DATABASE_URL names cannot be read \(ENOENT: .*\)\. Correct sslrootcert/,
      ],
      [
        'of an authority in a file that is a folder',
        'localhost',
        () => `?sslmode=verify-full&sslrootcert=${folder}`,
        /^The file \S+ that DATABASE_URL names cannot be read \(EISDIR: .*\)\. Correct sslrootcert/,
      ],
      [
        'of an authority in a file that is no certificate',
        'localhost',
        () => `?sslmode=verify-full&sslrootcert=${file('broken.pem')}`,
        /or that file is not a certificate in PEM format\. Correct sslrootcert/,
      ],
      [
        'and wants one of a file that is none',
        'localhost',
        () => `?sslmode=no-verify&sslcert=${file('broken.pem')}&sslkey=${file('broken.pem')}`,
        /^A file that DATABASE_URL names is not a certificate or key in PEM format .*Correct sslrootcert, sslcert or sslkey/,
      ],
      [
        'for another host',
        '127.0.0.1',
        () => `?sslmode=verify-full&sslrootcert=${file('server.pem')}`,
        /^The certificate of PostgreSQL at 127\.0\.0\.1:\d+ is not for the host 127\.0\.0\.1 .*Use a host name of the certificate/,
      ],
    ])('%s: a sentence with the remedy', async (_, hostname, query, sentence) => {
      expect(await refusal(url(hostname, query()))).toMatch(sentence);
    });

    it.each([
      ['that is verified', () => `?sslmode=verify-full&sslrootcert=${file('server.pem')}`],
      ['that is verified by sslmode=require too', () => `?sslmode=require&sslrootcert=${file('server.pem')}`],
      ['that nobody is to verify', () => '?sslmode=no-verify'],
    ])('%s: starts, and every connection is encrypted', async (_, query) => {
      const service = await start(url('localhost', query()));
      const { rows } = await server.run(
        `select application_name as name, bool_and(ssl) as encrypted from pg_stat_ssl join pg_stat_activity using (pid)
         where application_name in ('consigliere', 'consigliere channel') group by 1 order by 1`,
      );
      expect(rows).toEqual([
        { name: 'consigliere', encrypted: true },
        { name: 'consigliere channel', encrypted: true },
      ]);
      expect(service.errors).toBe('');
      await service.kill();
    });
  });

  it('and must be: says so', async () => {
    const { rows } = await server.run('show hba_file');
    const hba = (rows[0] as { hba_file: string }).hba_file;
    await server.run(`copy (select 'hostssl all all all scram-sha-256') to '${hba}'`);
    await server.run('select pg_reload_conf()');
    expect(await refusal(url('localhost', ''))).toMatch(
      /^PostgreSQL at localhost:\d+ requires TLS\. Add sslmode=verify-full to DATABASE_URL/,
    );
  });
});
