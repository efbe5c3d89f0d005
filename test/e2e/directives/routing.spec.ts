import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BriefingReader } from '../../../src/features/capos/briefing.reader.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { SignalDesk } from '../records/signal-desk.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { Desk } from './desk.js';

let test: TestApp;
let workspace: TestWorkspace;
let teamOne: string;
let teamTwo: string;
beforeAll(async () => {
  test = await startTestApp();
  workspace = await test.createWorkspace();
  [teamOne, teamTwo] = [
    await test.createTeam(workspace.workspaceId, 'One'),
    await test.createTeam(workspace.workspaceId, 'Two'),
  ];
  const orders = new OrderDesk(test);
  for (const [name, teamId] of [
    ['Nightingale harbour plan of team One', teamOne],
    ['Nightingale harbour plan of team Two', teamTwo],
    ['Nightingale harbour plan of everyone', null],
  ]) {
    await orders.create(
      { name, teamId, effect: 'require_approval', capos: ['capo_product'], match: {} },
      workspace.owner,
    );
  }
});
afterAll(() => test.close());

/** What the consigliere wrote down about a directive that speaks of what the orders speak of. */
async function routing(teamId: string | null): Promise<string> {
  const desk = new Desk(test, workspace.owner.token);
  const { directiveId } = await desk.handIn({
    text: 'Think about the nightingale and the harbour.',
    ...(teamId && { teamId }),
  });
  const directive = await eventually(
    () => desk.directive(directiveId),
    ({ routing: routed }) => routed !== null,
  );
  const receipts = await test.rows<{ body: string }>('select body from receipts where directive_id = $1', [
    directiveId,
  ]);
  return JSON.stringify([directive.routing, receipts]);
}

describe('the reasons of a routing', () => {
  it('name the standing orders of the team of the directive and of no team, and no others', async () => {
    const one = await routing(teamOne);
    expect(one).toContain('plan of team One');
    expect(one).toContain('plan of everyone');
    expect(one).not.toContain('plan of team Two');

    const none = await routing(null);
    expect(none).toContain('plan of everyone');
    expect(none).not.toMatch(/plan of team (One|Two)/);
  });
});

describe('the briefing of a capo', () => {
  it('tells what belongs to the team of the directive and to no team, and nothing else', async () => {
    const signals = new SignalDesk(test);
    for (const [title, teamId] of [
      ['Signal of One', teamOne],
      ['Signal of Two', teamTwo],
      ['Signal of everyone', null],
    ] as const) {
      await signals.raise({ title, teamId }, workspace.workspaceId);
    }
    const told = async (teamId: string | null) => {
      const scope = { workspaceId: workspace.workspaceId, teamIds: 'all' } as const;
      const briefing = await test.app.get(BriefingReader).read(scope, {
        directiveId: 'dir_1',
        teamId,
        text: 'Anything.',
        capo: 'capo_ops',
        priority: 'medium',
        context: {},
        deadline: null,
        feedback: [],
        createdBy: { type: 'member', id: 'mem_1', name: 'Ann', via: 'api' },
      });
      return JSON.stringify([briefing.signals, briefing.standingOrders, briefing.recentPackets]);
    };
    const one = await told(teamOne);
    expect(one).toContain('Signal of One');
    expect(one).toContain('Signal of everyone');
    expect(one).toContain('plan of team One');
    expect(one).not.toMatch(/(Signal|plan) of (team )?Two/);
    const none = await told(null);
    expect(none).toContain('Signal of everyone');
    expect(none).not.toMatch(/(Signal|plan) of (team )?(One|Two)/);
  });
});
