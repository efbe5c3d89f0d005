import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '../../../support/processes.js';
import { accountPosts, type Post, type PostAccount, postRevenue } from './posts.js';
import { account, type Account, type Stage } from './stage.js';

const AT_ONCE = 8;
/** As long as so many at once take, alone. */
const LATEST_KILL_MS = 60;

export interface KilledApi extends Account, PostAccount {
  kills: number;
}

/** Kills the process that answers, again and again, while requests are in it; nothing is sent a second time. */
export async function killApi(
  stage: Stage,
  { posts, kills }: { posts: number; kills: number },
): Promise<KilledApi> {
  const { service, receiver } = stage;
  const tenant = await stage.tenant(receiver.place());
  const sent: Post[] = [];
  let target: ServiceProcess = await service.start();
  const batch = async () => {
    sent.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => postRevenue(target, tenant)))));
  };
  for (let kill = 1; kill <= kills; kill++) {
    const successor = service.start();
    while (sent.length + AT_ONCE < (kill * posts) / kills) await batch();
    // Every other time the acts are held at their end, so that the kill certainly comes before the answers.
    const hold = kill % 2 === 0 ? await service.database.owner.connect() : undefined;
    await hold?.query('begin');
    await hold?.query('select 1 from receipt_heads where workspace_id = $1 for update', [tenant.workspaceId]);
    const last = batch();
    await sleep(randomInt(LATEST_KILL_MS));
    await target.kill();
    await hold?.query('rollback');
    hold?.release();
    await last;
    target = await successor;
  }
  await target.kill();
  return { ...(await account(stage, [tenant])), ...(await accountPosts(stage, tenant, sent)), kills };
}
