import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeleteWorkspaces } from '../../../src/features/tenancy/delete-workspaces.js';
import { TALLY_DIFFERENCES } from '../../support/tally-differences.js';
import { eventually } from '../../support/test-app.js';
import { Desk, DOCUMENT, MAIL } from '../directives/desk.js';
import { TenancyDesk } from '../tenancy/tenancy-desk.js';

let tenancy: TenancyDesk;
beforeAll(async () => {
  tenancy = await TenancyDesk.open();
});
afterAll(() => tenancy.test.close());

const expectNoDifference = async () => expect(await tenancy.test.rows(TALLY_DIFFERENCES)).toEqual([]);

/** One act each; what is not possible just then is refused, and refused acts count for nothing. */
const ACTS: ((desk: Desk, pick: <T>(of: readonly T[]) => T | undefined) => Promise<unknown>)[] = [
  (desk) => desk.handIn({ text: MAIL }),
  async (desk) => {
    const { approvalId } = await desk.handIn({ text: DOCUMENT });
    await desk.client.get(`/approvals/${approvalId}?wait=1`);
  },
  async (desk, pick) => {
    const id = pick(await pending(desk));
    if (id) await desk.approve(id);
  },
  async (desk, pick) => {
    const id = pick(await pending(desk));
    if (id) await desk.reject(id);
  },
  // Nothing can be drafted of this, so the directive fails.
  (desk) => desk.handIn({ text: '?' }),
  async (desk, pick) => {
    const { items } = (await desk.client.get('/directives')).body as { items: { directiveId: string }[] };
    const directive = pick(items);
    if (directive) await desk.client.post(`/directives/${directive.directiveId}/cancel`);
  },
  (desk) => desk.client.post('/revenue-events', { amount: 12.34, currency: 'USD', source: 'shop' }),
  (desk) => desk.kill(),
  (desk) => desk.client.post('/guardian/revert', {}),
  // Directives from long ago fail, as sets of rows do.
  (desk) =>
    desk.test.rows(
      `update directives set status = 'failed', started_at = now() - interval '20 minutes',
         cost = '{"amount": 0.25, "currency": "USD"}' where status = 'executed'`,
    ),
  (desk) => desk.test.rows('select app.fold_tallies(5)'),
];

async function pending(desk: Desk): Promise<string[]> {
  const { items } = (await desk.client.get('/approvals')).body as { items: { approvalId: string }[] };
  return items.map(({ approvalId }) => approvalId);
}

const SEQUENCE = fc.array(fc.record({ act: fc.nat(ACTS.length - 1), place: fc.nat(100), team: fc.nat(2) }), {
  minLength: 8,
  maxLength: 16,
});

describe('the tallies', () => {
  it('are what counting the rows gives, after any acts', { timeout: 120_000 }, async () => {
    const sweep = tenancy.test.app.get(DeleteWorkspaces, { strict: false });
    await fc.assert(
      fc.asyncProperty(SEQUENCE, async (sequence) => {
        const tenant = await tenancy.tenant();
        const team = await tenancy.test.createTeam(tenant.workspaceId, 'One');
        const callers = [
          tenant.owner,
          await tenancy.test.createMember(tenant.workspaceId, 'operator', [team]),
          await tenancy.test.createMember(tenant.workspaceId, 'operator'),
        ].map(({ token }) => new Desk(tenancy.test, token));
        for (const { act, place, team: caller } of sequence) {
          await ACTS[act]!(callers[caller]!, (of) => of[place % Math.max(of.length, 1)]);
          await expectNoDifference();
        }
        await tenancy.test.rows('select app.fold_tallies(100000)');
        await expectNoDifference();
        await tenancy.requestDeletion(tenant);
        await expectNoDifference();
        await tenancy.endGrace(tenant.workspaceId);
        await eventually(
          async () => {
            await sweep.execute();
            return tenancy.test.rows('select 1 from workspaces where workspace_id = $1', [
              tenant.workspaceId,
            ]);
          },
          ({ length }) => length === 0,
        );
        await tenancy.test.rows('select app.fold_tallies(100000)');
        await expectNoDifference();
      }),
      { numRuns: 3, interruptAfterTimeLimit: 90_000 },
    );
  });
});
