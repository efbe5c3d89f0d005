import { setTimeout as pause } from 'node:timers/promises';
import { call, inParallel, timed } from './calls.js';
import { start } from './processes.js';
import { isQuick } from './size.js';

const APPROVALS = isQuick ? 40 : 200;
const TEXT = 'Email jane@acme.example, subject "Your order": Your order ships on Friday.';

/** Milliseconds of each approval of a mail that waits, one at a time, while a worker sends what was approved. */
export async function measureApprovals(
  environment: Record<string, string>,
  token: string,
): Promise<number[]> {
  const service = await start('../src/main.js', { ...environment, RATE_LIMIT_STORE: 'memory' });
  const api = `${service.url}/api/pro`;
  try {
    await inParallel(8, APPROVALS, () => call(`${api}/directive`, token, { text: TEXT }));
    const ids: string[] = [];
    while (ids.length < APPROVALS) {
      await pause(200);
      ids.length = 0;
      for (let offset = 0; offset < APPROVALS; offset += 100) {
        const page = await call<{ items: { approvalId: string; ready: boolean }[] }>(
          `${api}/approvals?limit=100&offset=${offset}`,
          token,
        );
        ids.push(...page.items.filter(({ ready }) => ready).map(({ approvalId }) => approvalId));
      }
    }
    return await timed(APPROVALS, (index) => call(`${api}/approvals/${ids[index]}/approve`, token, {}));
  } finally {
    await service.stop();
  }
}
