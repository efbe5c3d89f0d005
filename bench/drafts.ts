import { call, openLoop, until } from './calls.js';
import { listenForApprovals } from './ready-drafts.js';
import { start } from './processes.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces } from './workspaces.js';

const WORKSPACES = 16;
const PER_SECOND = 50;
const SECONDS = isQuick ? 4 : 20;
const WARM_UP_SECONDS = isQuick ? 2 : 5;
const TEXT = 'Email jane@acme.example, subject "Your order": Your order ships on Friday.';

/**
 * Milliseconds from the moment a hand-in is sent until the service publishes its draft, in one process of role `all`:
 * what routes and drafts shares the event loop with what takes requests. Hand-ins come at their rate, whether those before
 * have been answered or not.
 */
export async function measureDrafts(environment: Record<string, string>): Promise<number[]> {
  const service = await start('../src/main.js', {
    ...environment,
    PROCESS_ROLE: 'all',
    RATE_LIMIT_STORE: 'memory',
  });
  try {
    return await asOwner(environment['DATABASE_URL']!, async (owner) => {
      const workspaces = await createWorkspaces(owner, WORKSPACES);
      const sentAt = new Map<string, number>();
      const readyAt = new Map<string, number>();
      await listenForApprovals(owner, (approvalId) => readyAt.set(approvalId, performance.now()));
      const handIn = async (n: number) => {
        const at = performance.now();
        const { token } = workspaces[n % WORKSPACES]!;
        const { approvalId } = await call<{ approvalId: string }>(`${service.url}/api/pro/directive`, token, {
          text: TEXT,
        });
        sentAt.set(approvalId, at);
      };
      const run = async (seconds: number) => {
        sentAt.clear();
        await openLoop(PER_SECOND, seconds, handIn);
        await until(() => [...sentAt.keys()].every((id) => readyAt.has(id)), 60_000, 'every draft is ready');
      };
      await run(WARM_UP_SECONDS);
      await run(SECONDS);
      return [...sentAt].map(([approvalId, at]) => readyAt.get(approvalId)! - at);
    });
  } finally {
    await service.stop();
  }
}
