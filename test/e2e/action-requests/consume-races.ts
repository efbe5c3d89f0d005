import { randomBytes, randomInt } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { expect } from 'vitest';
import { atOnce } from '../../support/at-once.js';
import type { Answer, Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';

const AT_ONCE = 24;
/** Every tenth is decided by a person, and the others by a standing order. */
const ASKS_EVERY = 10;
const ALLOWED = 'pay.invoice';
const ASKED = 'pay.asks';

/** A service of one process or several; each client comes from an address of its own, at any of them. */
export interface Racing {
  owner: () => Client;
  clientOf: (token: string) => Client;
  rows: <T = Record<string, unknown>>(sql: string, values?: unknown[]) => Promise<T[]>;
}

interface Asked {
  actionRequestId: string;
  paramsHash: string;
  status: string;
  approvalId: string | null;
}

type Consumed = Asked & { answer: Answer };

export const newAttempt = () => randomBytes(16).toString('hex');

/** Registers the tools of an agent, allows one of them by an order that counts, and answers the agent's token. */
export async function setUpAgent({ owner }: Racing): Promise<string> {
  const properties = { order: { type: 'string' }, amount: { type: 'number' } };
  for (const name of [ALLOWED, ASKED]) {
    const paramsSchema = { type: 'object', properties, required: ['order'], additionalProperties: false };
    const made = await owner().post('/tools', {
      name,
      paramsSchema,
      reversibility: 'reversible',
      risk: 'low',
    });
    expect(made.status, made.text).toBe(201);
  }
  const order = await owner().post('/standing-orders', {
    name: 'Invoices',
    effect: 'allow',
    match: { actionTypes: [ALLOWED] },
    limits: { maxPerDay: 1_000_000 },
  });
  const { standingOrderId, version } = order.body;
  const path = `/standing-orders/${standingOrderId}/activate`;
  const active = await owner().post(path, { acknowledge: true, version });
  expect(active.body.status, active.text).toBe('active');
  const made = await owner().post('/tokens', { name: 'Bot', agent: { name: 'Bot' }, tools: ['pay.*'] });
  expect(made.status, made.text).toBe(201);
  return made.body.token;
}

/**
 * So many requests that may be consumed are, at all processes at once, and the kill switch is engaged among them. Each is answered with
 * a permit, and its receipt stands before that of the kill; or with 423, and it can never be consumed. Answers the figures.
 */
export async function consumeWhileKilled(racing: Racing, token: string, count: number): Promise<object> {
  const { rows, owner, clientOf } = racing;
  const requests = await permitted(racing, token, count);
  // It is engaged once so many have been answered.
  const before = randomInt(Math.ceil(count / 10), Math.ceil(count / 2));
  let answered = 0;
  let kill: Promise<Answer> | undefined;
  const consumed = await atOnce(AT_ONCE, requests, async (request): Promise<Consumed> => {
    const body = { attempt: newAttempt(), paramsHash: request.paramsHash };
    const answer = await clientOf(token).post(`/action-requests/${request.actionRequestId}/consume`, body);
    if (++answered === before) kill = owner().post('/guardian/kill-switch', { reason: 'Stop.' });
    return { ...request, answer };
  });
  const killed = await kill!;
  expect(killed.status, killed.text).toBe(200);
  const taken = consumed.filter(({ answer }) => answer.status === 200);
  const refused = consumed.filter(({ answer }) => answer.status !== 200);
  for (const { answer } of refused)
    expect([answer.status, answer.body.error.code]).toEqual([423, 'GUARDIAN_HALTED']);
  await expectPermits(racing, taken);
  await expectReceipts(racing, taken, refused);

  const statuses = await rows<{ id: string; status: string }>(
    'select action_request_id as id, status from action_requests where action_request_id = any($1)',
    [idsOf(consumed)],
  );
  const statusOf = new Map(statuses.map(({ id, status }) => [id, status]));
  expect(new Set(idsOf(taken).map((id) => statusOf.get(id)))).toEqual(new Set(['consumed']));
  expect(new Set(idsOf(refused).map((id) => statusOf.get(id)))).toEqual(new Set(['cancelled']));
  const uses = await rows<{ id: string }>(
    'select work_packet_id as id from standing_order_uses where work_packet_id = any($1)',
    [idsOf(consumed)],
  );
  const counted = taken.filter(({ approvalId }) => approvalId === null);
  expect(uses.map(({ id }) => id).toSorted()).toEqual(idsOf(counted).toSorted());

  const reverted = await owner().post('/guardian/revert', {});
  expect(reverted.status, reverted.text).toBe(200);
  await eventually(
    () => owner().get('/guardian'),
    ({ body }) => body.mode === 'guardrailed',
    60,
  );
  // What was voided stays so, and what was consumed stays that.
  await atOnce(AT_ONCE, consumed, async ({ actionRequestId, paramsHash, answer }) => {
    const body = { attempt: newAttempt(), paramsHash };
    const again = await clientOf(token).post(`/action-requests/${actionRequestId}/consume`, body);
    const code = answer.status === 200 ? 'ALREADY_CONSUMED' : 'INVALID_TRANSITION';
    expect([again.status, again.body.error.code, again.body.permit]).toEqual([409, code, undefined]);
  });
  const { body: verified } = await owner().get('/audit-feed/verify');
  expect(verified).toMatchObject({ ok: true, faults: [] });
  return { 'consumed before the kill': taken.length, 'refused with 423': refused.length };
}

/**
 * One request is consumed so many times at once by as many attempts, and another one by a single attempt, which gets the same permit each
 * time. Answers how many permits each gave.
 */
export async function consumeAtOnce(
  racing: Racing,
  token: string,
  times: number,
): Promise<{ toMany: number; toOne: number }> {
  const [one, other] = (await permitted(racing, token, 2)) as [Asked, Asked];
  const consume = ({ actionRequestId, paramsHash }: Asked, attempt: () => string) =>
    atOnce(times, Array.from({ length: times }), () =>
      racing
        .clientOf(token)
        .post(`/action-requests/${actionRequestId}/consume`, { attempt: attempt(), paramsHash }),
    );
  const different = await consume(one, newAttempt);
  const said = different.map(({ status, body }) => (status === 200 ? 'permit' : body.error.code));
  expect(said.toSorted()).toEqual([...Array.from({ length: times - 1 }, () => 'ALREADY_CONSUMED'), 'permit']);
  const attempt = newAttempt();
  const same = await consume(other, () => attempt);
  expect(new Set(same.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(same.map(({ body }) => body.permit)).size).toBe(1);
  for (const { actionRequestId } of [one, other]) {
    const receipts = await racing.rows(
      `select 1 from receipts where entity_id = $1 and action = 'action.consumed'`,
      [actionRequestId],
    );
    expect(receipts).toHaveLength(1);
  }
  const given = (answers: readonly Answer[]) =>
    answers.filter(({ body }) => body.permit !== undefined).length;
  return { toMany: given(different), toOne: given(same) };
}

/** Requests that may be consumed, of both kinds. */
async function permitted({ owner, clientOf }: Racing, token: string, count: number): Promise<Asked[]> {
  return atOnce(AT_ONCE, numbers(count), async (index) => {
    const tool = index % ASKS_EVERY === 0 ? ASKED : ALLOWED;
    const body = { tool, params: { order: `A-${index}`, amount: 25 } };
    const asked = await clientOf(token).post<Asked>('/action-requests', body);
    expect([asked.status, asked.body.status], asked.text).toEqual([
      201,
      tool === ASKED ? 'pending' : 'allowed',
    ]);
    if (tool === ASKED) {
      const approved = await owner().post(`/approvals/${asked.body.approvalId}/approve`);
      expect(approved.status, approved.text).toBe(200);
    }
    return asked.body;
  });
}
let requestsMade = 0;
const numbers = (count: number) => Array.from({ length: count }, () => requestsMade++);

/** Each permit is for its request, under its receipt, and no two have one `jti`. */
async function expectPermits({ owner }: Racing, taken: readonly Consumed[]): Promise<void> {
  const { body: keySet } = await owner().get('/.well-known/jwks.json');
  const keys = createLocalJWKSet(keySet);
  const claims = await Promise.all(
    taken.map(async ({ answer }) => (await jwtVerify(answer.body.permit, keys)).payload),
  );
  const claimed = claims.map(({ sub, params_sha256, receipt_id }) => [sub, params_sha256, receipt_id]);
  expect(claimed).toEqual(
    taken.map(({ actionRequestId, paramsHash, answer }) => [
      actionRequestId,
      paramsHash,
      answer.body.receiptId,
    ]),
  );
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(taken.length);
}

/** What was consumed has one receipt of that, before that of the kill; the kill's names all others. */
async function expectReceipts(
  { rows }: Racing,
  taken: readonly Consumed[],
  refused: readonly Consumed[],
): Promise<void> {
  const [kill] = await rows<{ seq: number }>(
    `select seq::int, body from receipts where action = 'guardian.killed' order by seq desc limit 1`,
  );
  const receipts = await rows<{ id: string; entity: string; seq: number }>(
    `select receipt_id as id, entity_id as entity, seq::int from receipts where action = 'action.consumed' and entity_id = any($1)`,
    [idsOf([...taken, ...refused])],
  );
  expect(receipts.filter(({ seq }) => seq > kill!.seq)).toEqual([]);
  expect(receipts.map(({ id, entity }) => `${entity} ${id}`).toSorted()).toEqual(
    taken.map(({ actionRequestId, answer }) => `${actionRequestId} ${answer.body.receiptId}`).toSorted(),
  );
  const voided = await rows<{ body: string }>(
    `select body from receipts where action = 'action.voided' and seq between $1 - 10 and $1 + 10`,
    [kill!.seq],
  );
  const named = voided.flatMap(({ body }) => JSON.parse(body).details.actionRequestIds as string[]);
  expect(named.toSorted()).toEqual(idsOf(refused).toSorted());
}

function idsOf(requests: readonly Asked[]): string[] {
  return requests.map(({ actionRequestId }) => actionRequestId);
}
