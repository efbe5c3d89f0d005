import { it } from 'vitest';
import pg from 'pg';
import { startPgbouncer } from '../support/pgbouncer.js';
import { createTestDatabase } from '../support/test-database.js';
it('x', async () => {
  const database = await createTestDatabase();
  for (const s of [{auth_user:''}, {auth_user: '', auth_type: 'md5'}] as Record<string,string>[]) {
  const pooler = await startPgbouncer(database.url, s);
  const u = new URL(pooler.url); u.username='nobodyknows'; u.password='x';
  const t = Date.now();
  const c = new pg.Client({ connectionString: u.href }); c.on('error', () => 0);
  console.log(await c.connect().catch((e) => [e.code, e.message]), Date.now() - t);
  await pooler.stop();
  }
  await database.drop();
}, 60000);
