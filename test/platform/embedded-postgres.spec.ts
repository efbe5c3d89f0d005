import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { packagedBinaries } from '../../src/platform/embedded-postgres/binaries.js';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js';

/** Adoption, kills, ports and users: test/faults/embedded-postgres.spec.ts. */
describe('the embedded server', () => {
  it(
    'runs the packaged binaries, and keeps data and password over a restart',
    { timeout: 60_000 },
    async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
      await chmod(dataDir, 0o755); // a server started by root runs as another user
      const start = () =>
        startEmbeddedPostgres({
          dataDir,
          settings: { fsync: 'off', shared_buffers: '16MB' },
          log: () => undefined,
        });
      const query = async (url: string, sql: string) => {
        const client = new pg.Client(url);
        await client.connect();
        try {
          return (await client.query(sql)).rows;
        } finally {
          await client.end();
        }
      };
      try {
        const first = await start();
        expect(first).toMatchObject({ startedByUs: true, initialised: true });
        expect(await query(first.url, 'show server_version')).toEqual([{ server_version: '18.4' }]);
        await query(first.url, 'create table kept as select 42 as answer');
        await first.stop();
        const second = await start();
        expect(second).toMatchObject({ startedByUs: true, initialised: false });
        expect(new URL(second.url).password).toBe(new URL(first.url).password);
        expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
        await second.stop();
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  );

  it('names DATABASE_URL when there is no package for the platform', () => {
    const arch = Object.getOwnPropertyDescriptor(process, 'arch')!;
    Object.defineProperty(process, 'arch', { ...arch, value: 'mips' });
    try {
      expect(packagedBinaries).toThrow(/-mips .* is not installed.* DATABASE_URL/);
    } finally {
      Object.defineProperty(process, 'arch', arch);
    }
  });
});
