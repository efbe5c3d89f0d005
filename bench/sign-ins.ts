import { hash } from '@node-rs/argon2';
import { newId } from '../src/platform/kernel/ids.js';
import { call, openLoop } from './calls.js';
import { start } from './processes.js';
import type { Times } from './report.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces } from './workspaces.js';

const CLIENTS = 16;
/** The p99 of fewer than a thousand reads is the length of one collection of garbage. */
const SECONDS = isQuick ? 3 : 60;
const READS_PER_SECOND = 20;
const PASSWORD = 'correct horse battery staple';

/** How many sign-ins a second 16 clients get done, and how long a read takes beside them and without them. */
export async function measureSignIns(
  environment: Record<string, string>,
): Promise<{ perSecond: number; context: Times }> {
  const passwordHash = await hash(PASSWORD);
  const { token, emails } = await asOwner(environment['DATABASE_URL']!, async (client) => {
    const [workspace] = await createWorkspaces(client, 1);
    const addresses: string[] = [];
    for (let index = 0; index < CLIENTS; index++) {
      const [userId, email] = [newId('usr'), `bench-${index}@example.com`];
      await client.query(
        'insert into users (user_id, email, display_name, password_hash) values ($1, $2, $2, $3)',
        [userId, email, passwordHash],
      );
      await client.query(
        `insert into members (member_id, workspace_id, user_id, role) values ($1, $2, $3, 'operator')`,
        [newId('mem'), workspace!.workspaceId, userId],
      );
      addresses.push(email);
    }
    return { token: workspace!.token, emails: addresses };
  });
  const service = await start('../src/main.js', { ...environment, RATE_LIMIT_STORE: 'memory' });
  const read = async (seconds: number): Promise<number[]> => {
    const times: number[] = [];
    await openLoop(READS_PER_SECOND, seconds, async () => {
      const began = performance.now();
      await call(`${service.url}/api/pro/context`, token);
      times.push(performance.now() - began);
    });
    return times;
  };
  try {
    await read(3);
    const alone = await read(SECONDS);
    let done = 0;
    const ended = new AbortController();
    const signIn = (email: string) =>
      call(`${service.url}/api/admin/session`, '', { email, password: PASSWORD });
    await Promise.all(emails.map(signIn));
    const clients = emails.map(async (email) => {
      while (!ended.signal.aborted) {
        await signIn(email);
        done++;
      }
    });
    const began = performance.now();
    const beside = await read(SECONDS);
    const perSecond = (done * 1000) / (performance.now() - began);
    ended.abort();
    await Promise.all(clients);
    return { perSecond, context: { alone, 'beside 16 clients who sign in': beside } };
  } finally {
    await service.stop();
  }
}
