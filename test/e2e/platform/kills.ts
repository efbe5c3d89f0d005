import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { Answer } from '../../support/client.js';
import type { Service, ServiceProcess } from '../../support/processes.js';

const AT_ONCE = 8;
/** A request alone takes 3 to 15 ms, eight of them some 40. */
const LATEST_KILL_MS = 40;

interface KillTally {
  kills: number;
  requests: number;
  /** Answered before the kill. */
  answered: number;
  /** Committed, but the answer was lost: the retry replays. */
  lostAnswers: number;
  /** Neither: the retry executes. */
  undone: number;
}

/**
 * Kills the process that serves, again and again, while requests are in it; every request is sent again with its key
 * to the process that is left. Checks that each key has exactly one effect, and that it is whole.
 */
export async function killWhileServing(service: Service, kills: number): Promise<KillTally> {
  const tally: KillTally = { kills: 0, requests: 0, answered: 0, lostAnswers: 0, undone: 0 };
  const keys = new Map<string, Answer>();
  let [victim, other] = service.processes as [ServiceProcess, ServiceProcess];
  while (tally.kills < kills) {
    const successor = service.start();
    const batch = Array.from({ length: AT_ONCE }, () => newId('req'));
    // The first act and each third one after it are held at their end, so that the kill certainly comes between the claim and
    // the answer.
    const blocker = tally.kills % 3 === 0 ? await service.database.owner.connect() : undefined;
    await blocker?.query('begin');
    await blocker?.query('select 1 from receipt_heads where workspace_id = $1 for update', [
      service.workspaceId,
    ]);
    const first = batch.map((key) => send(service, victim, key).catch(() => undefined));
    await sleep(randomInt(blocker ? 30 : 0, blocker ? 90 : LATEST_KILL_MS));
    await victim.kill();
    tally.kills++;
    await blocker?.query('rollback');
    blocker?.release();
    const answers = await Promise.all(first);
    for (const [index, key] of batch.entries()) {
      const before = answers[index];
      const retry = await send(service, other, key);
      expect(retry.status).toBe(201);
      const replayed = retry.headers.get('idempotent-replayed') === 'true';
      tally.requests++;
      if (before) {
        tally.answered++;
        expect(before.status).toBe(201);
        expect(replayed, 'what was answered is replayed').toBe(true);
        expect(retry.text).toBe(before.text);
      } else if (replayed) tally.lostAnswers++;
      else tally.undone++;
      keys.set(key, retry);
    }
    [victim, other] = [other, await successor];
  }
  await expectWhole(service, keys);
  return tally;
}

function send(service: Service, process: ServiceProcess, key: string): Promise<Answer> {
  return service.client(process).post('/directive', { text: `Note ${key}` }, { 'Idempotency-Key': key });
}

/** Each key has its one directive with its approval, its two receipts, its stored answer and its time to be
 * taken up; nothing else is there. */
async function expectWhole(service: Service, keys: ReadonlyMap<string, Answer>): Promise<void> {
  const found = await service.rows<{
    text: string;
    directive_id: string;
    approvals: string;
    receipts: string[];
  }>(`
    select d.text, d.directive_id,
      (select string_agg(a.approval_id, ',') from approvals a where a.directive_id = d.directive_id) approvals,
      array(select r.action from receipts r where r.directive_id = d.directive_id order by r.seq) receipts
    from directives d where d.text like 'Note req_%'`);
  expect(found.length).toBe(keys.size);
  for (const row of found) {
    const answer = keys.get(row.text.slice('Note '.length));
    expect(answer?.body).toEqual({
      directiveId: row.directive_id,
      approvalId: row.approvals,
      status: 'pending_approval',
    });
    expect(row.receipts).toEqual(['directive.created', 'approval.requested']);
  }
  const [counts] = await service.rows(`select
    (select count(*)::int from idempotency_keys) keys,
    (select count(*)::int from approvals) approvals,
    (select count(*)::int from receipts where directive_id is not null) receipts,
    (select count(*)::int from work_items where kind = 'directive.route' and due_at <= now()) due`);
  expect(counts).toEqual({ keys: keys.size, approvals: keys.size, receipts: 2 * keys.size, due: keys.size });
}
