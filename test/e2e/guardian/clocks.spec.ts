import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Guardians } from '../../../src/features/guardian/guardians.repository.js';
import { PolicyGate, PolicyPreview } from '../../../src/features/guardian/policy-gate.js';
import type { DecidedPacket } from '../../../src/features/standing-orders/decision-input.js';
import { verifyLog } from '../../../src/features/verifier/verifier.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { aPacket } from '../../standing-orders/factories.js';
import { Desk } from '../directives/desk.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let test: TestApp;
let desk: OrderDesk;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
});
afterEach(() => test.clock.goOn());
afterAll(() => test.close());

const mail = (given: Partial<DecidedPacket> = {}) => ({
  ...aPacket({ params: { to: ['jane@acme.example'] }, ...given }),
  workPacketId: newId('pkt'),
});

/** Decides a packet, and lets it go if the orders allow it. */
function decide(packet = mail()): Promise<string> {
  const { workspaceId } = workspace;
  return test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, async () => {
    const guardian = await test.app.get(Guardians).lockShared(workspaceId);
    const [decided] = await test.app.get(PolicyGate).decide([packet], { guardian });
    if (decided!.decision.outcome === 'allow') test.app.get(PolicyGate).use(decided!);
    return decided!.decision.outcome;
  });
}

async function preview(): Promise<string> {
  const { decisions } = await test.app.get(PolicyPreview).of(workspace.workspaceId, [mail()]);
  return decisions[0]!.decision.outcome;
}

const decidedAt = async () =>
  (
    await test.rows<{ at: Date }>(
      'select at from policy_decisions where workspace_id = $1 order by decision_id',
      [workspace.workspaceId],
    )
  ).map(({ at }) => at.getTime());

describe('a process whose clock is hours ahead', () => {
  it('keeps to a prohibition that has not expired, then and later', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    await desk.create({ ...NO_MAIL, expiresAt: Date.now() + HOUR }, workspace.owner);
    expect(await decide()).toBe('deny');
    test.clock.skew(2 * HOUR);
    expect([await decide(), await preview()]).toEqual(['deny', 'deny']);
    test.clock.skew(0);
    expect([await decide(), await preview()]).toEqual(['deny', 'deny']);
  });

  it('has a limit of the hour and of the day hold, then and later', async () => {
    await desk.active({ ...MAIL_TO_ACME, limits: { maxPerHour: 1, maxPerDay: 1 } }, workspace.owner);
    expect(await decide()).toBe('allow');
    test.clock.skew(25 * HOUR);
    expect([await preview(), await decide()]).toEqual(['require_approval', 'require_approval']);
    test.clock.skew(0);
    expect([await preview(), await decide()]).toEqual(['require_approval', 'require_approval']);
  });

  it('begins no window of a budget', async () => {
    const budget = { window: 'day', amount: 100, currency: 'EUR' };
    await desk.active({ ...MAIL_TO_ACME, budget }, workspace.owner);
    expect(await decide(mail({ amount: 100, currency: 'EUR' }))).toBe('allow');
    test.clock.skew(25 * HOUR);
    expect(await decide(mail({ amount: 1, currency: 'EUR' }))).toBe('require_approval');
  });

  it('delays a work packet no longer than its orders say', async () => {
    const owner = new Desk(test, workspace.owner.token);
    await desk.active(FILE_DOCUMENTS, workspace.owner);
    await desk.create(
      { name: 'Pace', effect: 'throttle', match: {}, limits: { maxPerHour: 1 } },
      workspace.owner,
    );
    test.clock.skew(-5 * HOUR);
    const text = { directive: 'File this memo: It ends.', capo: 'capo_ops', requiresApproval: false };
    await owner.until((await owner.client.post('/directives', text)).body.directiveId, 'executed');
    const { directiveId } = (await owner.client.post('/directives', text)).body;
    await owner.until(directiveId, 'sending');
    const [work] = await test.rows<{ minutes: number }>(
      `select extract(epoch from due_at - now())::float8 / 60 as minutes from work_items
       where workspace_id = $1 and kind = 'packet.send' and due_at < 'infinity'`,
      [workspace.workspaceId],
    );
    expect(work!.minutes).toBeGreaterThan(50);
    expect(work!.minutes).toBeLessThan(61);
  });
});

describe('two processes whose clocks are minutes apart', () => {
  it('let no more through in an hour than its limit, and leave a log that is verified', async () => {
    const owner = new Desk(test, workspace.owner.token);
    await desk.active({ ...FILE_DOCUMENTS, limits: { maxPerHour: 2 } }, workspace.owner);
    const file = async () => {
      const { directiveId } = (
        await owner.client.post('/directives', {
          directive: 'File this memo: It ends on Friday.',
          capo: 'capo_ops',
          requiresApproval: false,
        })
      ).body;
      await owner.until(directiveId, 'executed');
    };
    test.clock.skew(5 * MINUTE);
    await file();
    test.clock.skew(0);
    await file();
    // Fifty-seven minutes later the clock that is ahead says that the first hour is over.
    test.clock.advance(57 * MINUTE);
    test.clock.skew(5 * MINUTE);
    const { directiveId } = (
      await owner.client.post('/directives', {
        directive: 'File this memo: It ends on Friday.',
        capo: 'capo_ops',
        requiresApproval: false,
      })
    ).body;
    await owner.until(directiveId, 'pending_approval');
    const log = (await owner.client.get('/audit-feed?format=jsonl')).text;
    const { proofs } = await verifyLog(Readable.from([Buffer.from(log)]), workspace.workspaceId);
    expect(proofs.decisions.faults).toEqual([]);
    expect(proofs.decisions.equal).toBe(3);
  });
});

describe("the database's clock, set back after it was ahead", () => {
  it('dates no decision before the last one, and lets no more through', async () => {
    await desk.active({ ...MAIL_TO_ACME, limits: { maxPerHour: 1 } }, workspace.owner);
    test.clock.advance(2 * HOUR);
    expect(await decide()).toBe('allow');
    test.clock.goOn();
    expect(await decide()).toBe('require_approval');
    const [first, second] = await decidedAt();
    expect(second).toBeGreaterThanOrEqual(first!);
  });

  it('cannot be moved by the role of the application', async () => {
    const [row] = await test.rows<{ owner: string; created: boolean }>(
      `select pg_get_userbyid(proowner) as owner, has_schema_privilege('consigliere_app', 'app', 'create') as created
       from pg_proc where oid = 'app.clock'::regproc`,
    );
    expect(row).toMatchObject({ created: false });
    expect(row!.owner).not.toBe('consigliere_app');
  });
});
