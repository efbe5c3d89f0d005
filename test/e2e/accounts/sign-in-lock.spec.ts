import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Passwords } from '../../../src/platform/auth/passwords.js';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { ProcessPool } from '../../../src/platform/processes/process-pool.js';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import {
  AccountDesk,
  addresses,
  counted,
  MINUTE_MS,
  outcome,
  PASSWORD,
  type TestAccount,
  told,
} from './account-desk.js';

// Hashing gives way to all other processes of the machine.
vi.setConfig({ testTimeout: 60_000 });

let desk: AccountDesk;
beforeAll(async () => {
  desk = await AccountDesk.open();
});
afterEach(() => {
  vi.restoreAllMocks();
  desk.test.clock.goOn();
});
afterAll(() => desk.close());

const WRONG = 'not this password at all';
/** Of its own for each test: how often one address may call a route is another limit. */
let here: string;
let there: string;
beforeEach(() => {
  [here, there] = [new Client('', undefined).address, new Client('', undefined).address];
});

/** So many failures, one after the other. */
async function fail(account: { email: string }, times: number, address = here): Promise<string[]> {
  const outcomes: string[] = [];
  for (let n = 0; n < times; n++) {
    outcomes.push(outcome(await desk.signIn(account, { password: WRONG, address })));
  }
  return outcomes;
}

describe('ten failures in fifteen minutes', () => {
  it('lock the account for that address, also for the right password, and for no other', async () => {
    const account = await desk.account();
    desk.test.clock.stopAtMinute();
    const wrong = await fail(account, 10);
    expect(new Set(wrong)).toEqual(new Set(['401 invalid_credentials']));
    const locked = await desk.signIn(account, { address: here });
    expect(outcome(locked)).toBe('429 sign_in_locked');
    expect(locked.headers.get('retry-after')).toBe('900');
    expect(locked.headers.get('set-cookie')).toBeNull();
    expect(locked.body.error).toMatchObject({ code: 'RATE_LIMITED', details: { policy: 'sign-in' } });
    expect((await desk.signIn(account, { address: there })).status).toBe(201);
    expect((await desk.signIn(await desk.account(), { address: here })).status).toBe(201);

    desk.test.clock.advance(15 * MINUTE_MS - 1);
    expect(outcome(await desk.signIn(account, { address: here }))).toBe('429 sign_in_locked');
    desk.test.clock.advance(1);
    expect((await desk.signIn(account, { address: here })).status).toBe(201);
  });

  it('are counted within any fifteen minutes, not from the first of them', async () => {
    const account = await desk.account();
    desk.test.clock.stopAtMinute();
    await fail(account, 1);
    desk.test.clock.advance(14 * MINUTE_MS);
    await fail(account, 8);
    desk.test.clock.advance(MINUTE_MS);
    expect(await fail(account, 2)).toEqual(['401 invalid_credentials', '401 invalid_credentials']);
    expect(await fail(account, 1)).toEqual(['429 sign_in_locked']);
  });

  it('lock an address without an account in the same way, and nobody is told', async () => {
    const account = await desk.account();
    const nobody = { email: 'nobody@northwind.example' };
    desk.test.clock.stopAtMinute();
    const answers = { account: [] as string[], nobody: [] as string[] };
    for (let n = 0; n < 12; n++) {
      for (const [key, who] of [
        ['account', account],
        ['nobody', nobody],
      ] as const) {
        const answer = await desk.signIn(who, { password: WRONG, address: key === 'account' ? here : there });
        answers[key].push(`${answer.status} ${answer.headers.get('retry-after')} ${told(answer)}`);
      }
    }
    expect(answers.nobody).toEqual(answers.account);
    await desk.receipt(desk.workspaceId, 'account.locked', account.memberId);
    await eventually(
      () => desk.test.rows('select 1 from sign_in_locks'),
      (rows) => rows.length === 0,
    );
    expect(await desk.test.rows(`select 1 from work_items where kind = 'account.lock'`)).toEqual([]);
  });

  it('leave a receipt and a signal in each workspace of the account, once', async () => {
    const account = await desk.account();
    const other = await desk.join(account);
    await fail(account, 12);
    for (const { workspaceId, memberId } of [{ ...account, workspaceId: desk.workspaceId }, other]) {
      const receipt = await desk.receipt(workspaceId, 'account.locked', memberId);
      expect(receipt).toMatchObject({
        actor: { type: 'system' },
        outcome: 'failure',
        details: { address: here },
      });
      const signals = await desk.test.rows(
        `select type, severity, team_id from signals where workspace_id = $1 and entity->>'id' = $2`,
        [workspaceId, memberId],
      );
      expect(signals).toEqual([{ type: 'policy', severity: 'warning', team_id: null }]);
    }
    expect(JSON.stringify(await desk.receipts(desk.workspaceId, '%'))).not.toContain(WRONG);
  });

  it('are forgotten once somebody has signed in', async () => {
    const account = await desk.account();
    for (let round = 0; round < 2; round++) {
      await fail(account, 9);
      expect((await desk.signIn(account, { address: here })).status).toBe(201);
    }
    const [row] = await desk.test.rows(
      `select failed_at, locked_until from sign_in_tries where account = encode(sha256($1::bytea), 'hex') and address = $2`,
      [account.email, here],
    );
    expect(row).toEqual({ failed_at: [], locked_until: null });
  });

  it('count whatever the address is written like', async () => {
    const account = await desk.account();
    await fail({ email: account.email.toUpperCase() }, 10);
    expect(outcome(await desk.signIn(account, { address: here }))).toBe('429 sign_in_locked');
  });

  it('count with those of a password that somebody who is signed in has to show', async () => {
    const account = await desk.account();
    const browser = await desk.browser(account);
    await fail(account, 6, browser.address);
    for (let n = 0; n < 4; n++) {
      const body = { currentPassword: WRONG, newPassword: 'nineteen pears on a slow train' };
      expect(outcome(await browser.put('/password', body))).toBe('403 wrong_password');
    }
    expect(outcome(await browser.post('/second-factor', { password: PASSWORD }))).toBe('429 sign_in_locked');
    expect(outcome(await desk.signIn(account, { address: browser.address }))).toBe('429 sign_in_locked');
  });

  it('are none for a workspace that the account is not in, nor for a body that is not valid', async () => {
    const account = await desk.account();
    const { workspaceId } = await desk.test.createWorkspace();
    const from = { 'X-Forwarded-For': here };
    for (let n = 0; n < 12; n++) {
      const elsewhere = { email: account.email, password: PASSWORD, workspaceId };
      const answer = await desk.anyone.post(
        '/api/admin/session',
        n % 2 ? elsewhere : { password: WRONG },
        from,
      );
      expect(answer.status).toBe(n % 2 ? 404 : 422);
    }
    expect((await desk.signIn(account, { address: here })).status).toBe(201);
  });
});

describe('many tries at a time', () => {
  it('verify ten passwords and no more, in one process', async () => {
    const account = await desk.account();
    const run = vi.spyOn(ProcessPool.prototype, 'run');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => desk.signIn(account, { password: WRONG, address: '192.0.2.30' })),
    );
    expect(counted(answers)).toEqual({ '401 invalid_credentials': 10, '429 sign_in_locked': 10 });
    expect(run).toHaveBeenCalledTimes(10);
    await desk.receipt(desk.workspaceId, 'account.locked', account.memberId);
    const receipts = await desk.receipts(desk.workspaceId, 'account.locked');
    expect(receipts.filter(({ entity }) => entity.id === account.memberId)).toHaveLength(1);
  });
});

describe('the time of an answer', () => {
  it('is that of one verification, for a wrong password as for an unknown address', async () => {
    const account = await desk.account();
    await desk.test.rows('update users set password_hash = $2 where user_id = $1', [
      account.userId,
      await desk.test.app.get(Passwords).hash(PASSWORD),
    ]);
    const run = vi.spyOn(ProcessPool.prototype, 'run');
    await desk.signIn(account, { password: WRONG });
    await desk.signIn({ email: 'unknown@northwind.example' }, { password: WRONG });
    const work = run.mock.calls.map(([input]) => input as { password: string; passwordHash: string });
    expect(work.map(({ password }) => password)).toEqual([WRONG, WRONG]);
    const [real, nobodys] = work.map(({ passwordHash }) => passwordHash);
    // The parameters decide how much work it is.
    const parameters = (hash: string) => hash.split('$').slice(0, 4);
    expect(parameters(nobodys!)).toEqual(parameters(real!));
    expect(nobodys).toHaveLength(real!.length);
    expect(nobodys).not.toBe(real);
  });
});

describe('failures from many addresses', () => {
  /** As if from each of them a password had been verified, and was wrong. */
  const failFrom = (from: string[], email: string) =>
    desk.test.rows(`select app.count_sign_in_try($1, address, $3) from unnest($2::text[]) address`, [
      sha256(email),
      from,
      new Date(desk.test.clock.now()),
    ]);
  let account: TestAccount;
  let known: string;

  it('slow the account after fifty, for addresses that are new to it', async () => {
    account = await desk.account();
    known = '192.0.2.40';
    desk.test.clock.stopAtMinute();
    expect((await desk.signIn(account, { address: known })).status).toBe(201);
    await failFrom(addresses(40), account.email);
    const answers = await Promise.all(
      addresses(20, 101).map((address) => desk.signIn(account, { password: WRONG, address })),
    );
    expect(counted(answers)).toEqual({ '401 invalid_credentials': 10, '429 sign_in_locked': 10 });
    const slowed = await desk.signIn(account, { address: '192.0.2.41' });
    expect(outcome(slowed)).toBe('429 sign_in_locked');
    expect(slowed.headers.get('retry-after')).toBe('300');
  });

  it('do not keep out whoever comes from where they have signed in before', async () => {
    expect((await desk.signIn(account, { address: known })).status).toBe(201);
  });

  it('let one more try through each five minutes', async () => {
    desk.test.clock.stopAtMinute();
    desk.test.clock.advance(6 * MINUTE_MS);
    const answers = [
      await desk.signIn(account, { password: WRONG, address: '192.0.2.42' }),
      await desk.signIn(account, { password: WRONG, address: '192.0.2.43' }),
    ];
    expect(answers.map(outcome)).toEqual(['401 invalid_credentials', '429 sign_in_locked']);
  });

  it('are answered alike for an address without an account', async () => {
    const nobody = { email: 'many@northwind.example' };
    desk.test.clock.stopAtMinute();
    await failFrom(addresses(49), nobody.email);
    const answers = await Promise.all(
      addresses(5, 101).map((address) => desk.signIn(nobody, { password: WRONG, address })),
    );
    expect(counted(answers)).toEqual({ '401 invalid_credentials': 1, '429 sign_in_locked': 4 });
  });

  it('end with a new password by a mailed link, for the address that used it as for all others', async () => {
    const token = await desk.resetToken(account);
    expect((await desk.reset(token)).status).toBe(200);
    const answer = await desk.signIn(account, {
      password: 'nineteen pears on a slow train',
      address: '192.0.2.44',
    });
    expect(answer.status).toBe(201);
  });
});
