import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../support/processes.js';
import {
  manifestOf,
  newPublisher,
  publishersOf,
  REMINDER,
  signedPack,
  FILES_DOCUMENTS,
} from '../support/skill-packs.js';
import { eventually } from '../support/test-app.js';

const acme = newPublisher('acme');
let service: Service;
beforeAll(async () => {
  service = await startService(2, { SKILL_PACK_PUBLISHERS: publishersOf(acme) });
}, 120_000);
afterAll(() => service.close());

const SKILLS = 50;
const ORDERS = 50;

const manifest = manifestOf({
  skills: Array.from({ length: SKILLS }, (_, n) => ({ ...REMINDER, name: `skill-${n}` })),
  standingOrders: Array.from({ length: ORDERS }, (_, n) => ({
    ...FILES_DOCUMENTS,
    key: `order-${n}`,
    name: `Order ${n}`,
  })),
});

const arrived = async () => {
  const [row] = await service.rows<{ n: number }>(
    `select ((select count(*) from skill_pack_skills where status = 'arrived')
       + (select count(*) from skill_pack_orders where status = 'arrived'))::int as n`,
  );
  return row!.n;
};

/** Waits for this many parts, and ends every process at once. */
async function killAt(parts: number): Promise<void> {
  for (;;) {
    const n = await arrived();
    if (n >= parts) break;
    await pause(1);
  }
  await Promise.all(service.processes.map((one) => one.kill()));
}

it('goes on where it was when every process is killed in the middle, and brings each part once', async () => {
  const answer = await service.client().post('/skill-packs', signedPack(manifest, acme));
  expect(answer.status, answer.text).toBe(202);
  const { packId } = answer.body;
  for (const parts of [10, 70]) {
    await killAt(parts);
    const atTheKill = await arrived();
    expect(atTheKill).toBeGreaterThanOrEqual(parts);
    expect(atTheKill).toBeLessThan(SKILLS + ORDERS);
    expect(await service.rows(`select 1 from skill_packs where status = 'installing'`)).toHaveLength(1);
    await Promise.all([service.start(), service.start()]);
  }
  await eventually(
    () => service.rows(`select 1 from skill_packs where status = 'installed'`),
    (rows) => rows.length === 1,
    60,
  );

  const once = async (sql: string) => service.rows<{ name: string; n: number }>(sql);
  const skills = await once(
    `select name, count(*)::int as n from eval_runs e where occasion = 'install' group by name, target_entity_id`,
  );
  expect(skills.map(({ n }) => n)).toEqual(Array(SKILLS).fill(1));
  const orders = await once('select name, count(*)::int as n from standing_orders group by name');
  expect(orders.map(({ n }) => n)).toEqual(Array(ORDERS).fill(1));
  const simulations = await once(
    `select standing_order_id as name, count(*)::int as n from simulations group by standing_order_id`,
  );
  expect(simulations.map(({ n }) => n)).toEqual(Array(ORDERS).fill(1));
  const receipts = Object.fromEntries(
    (await once('select action as name, count(*)::int as n from receipts group by action')).map(
      ({ name, n }) => [name, n],
    ),
  );
  expect(receipts).toMatchObject({
    'skill_pack.accepted': 1,
    'skill_pack.skill_added': SKILLS,
    'standing_order.created': ORDERS,
    'skill_pack.installed': 1,
  });
  const client = service.client();
  expect((await client.get(`/skill-packs/${packId}`)).body.progress).toEqual({ done: 100, total: 100 });
  expect((await client.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
}, 300_000);
