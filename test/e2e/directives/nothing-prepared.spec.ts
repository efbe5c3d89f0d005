import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScriptedRunner } from '../../support/scripted-runner.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from './desk.js';

const LOSS = 'Pay out revenue of 900 EUR';
const REASON = 'Nothing was prepared: Say to whom and what';

const NEXT_STEP = 'If it is still wanted, hand it in again in other words.';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

async function opened() {
  const { workspaceId, owner } = await test.createWorkspace();
  return { workspaceId, desk: new Desk(test, owner.token) };
}

const unasked = (directive: string, capo: string) => ({ directive, capo, requiresApproval: false });

describe('a directive of which its capo can prepare nothing', () => {
  it('fails, and says in one sentence why', async () => {
    const { workspaceId, desk } = await opened();
    const { directiveId } = (await desk.client.post('/directives', unasked(LOSS, 'capo_revenue'))).body;
    const directive = await desk.until(directiveId, 'failed');
    expect(directive).toMatchObject({
      error: { code: 'NOTHING_PREPARED', message: expect.stringContaining(REASON) },
      workPacketIds: [],
      executedAt: null,
    });
    expect(await test.rows('select 1 from revenue_events where workspace_id = $1', [workspaceId])).toEqual(
      [],
    );
    const { items } = (await desk.client.get(`/audit-feed?entity=${directiveId}`)).body;
    expect(items[0]).toMatchObject({ action: 'directive.failed', outcome: 'failure' });
    expect(items[0].summary).toContain(`"${LOSS}" ended as failed: ${REASON}`);
  });

  it('tells somebody with a signal, since nobody was asked', async () => {
    const { workspaceId, desk } = await opened();
    const { directiveId } = (await desk.client.post('/directives', unasked(LOSS, 'capo_revenue'))).body;
    await desk.until(directiveId, 'failed');
    const signals = await test.rows(
      'select type, severity, title, body, entity from signals where workspace_id = $1',
      [workspaceId],
    );
    expect(signals).toMatchObject([
      {
        type: 'agent',
        severity: 'warning',
        title: `Nothing prepared: ${LOSS}`,
        body: expect.stringMatching(
          /^Nothing was prepared: Say to whom.* hand it in again in other words\.$/,
        ),
        entity: { type: 'directive', id: directiveId },
      },
    ]);
  });

  it('is no directive that was carried out', async () => {
    const { desk } = await opened();
    const { directiveId } = (await desk.client.post('/directives', unasked('Hmm, the weather.', 'capo_ops')))
      .body;
    const { error } = await desk.until(directiveId, 'failed');
    expect(error.message).toContain('Nothing was prepared: Say to whom');
    const today = new Date(test.clock.now()).toISOString().slice(0, 10);
    const { sections } = (await desk.client.get(`/reports/daily?date=${today}`)).body;
    expect(sections.agentActivity.directivesExecuted).toBe(0);
  });

  it('quotes a model, without what it might not say', async () => {
    const other = await startTestApp();
    try {
      const runner = new ScriptedRunner(other);
      runner.asModel('test-model');
      runner.answer('Do it.', {
        packets: [],
        remarks: 'I cannot do that\nwith the key sk-1234567890abcdef.',
      });
      runner.answer('Say nothing.', { packets: [], remarks: ' ' });
      const desk = new Desk(other, (await other.createWorkspace()).owner.token);
      const outcome = async (text: string) => {
        const { directiveId } = (await desk.client.post('/directives', unasked(text, 'capo_ops'))).body;
        return (await desk.until(directiveId, 'failed')).error.message;
      };
      expect(await outcome('Do it.')).toBe(
        'Nothing was prepared: “I cannot do that with the key [redacted]”',
      );
      expect(await outcome('Say nothing.')).toBe(
        'Nothing was prepared: its capo found nothing in it that it could do.',
      );
    } finally {
      await other.close();
    }
  });

  it('fails at once where a person wanted to see it, and ends its approval with the reason and what can be done', async () => {
    const { desk } = await opened();
    const { directiveId, approvalId } = await desk.handIn({ text: LOSS, capo: 'capo_revenue' });
    const { error } = await desk.until(directiveId, 'failed');
    expect(error).toEqual({
      code: 'NOTHING_PREPARED',
      message: expect.stringContaining(REASON),
      nextStep: NEXT_STEP,
    });
    const because = `${error.message} ${NEXT_STEP}`;
    expect(await desk.approval(approvalId)).toMatchObject({
      status: 'cancelled',
      feedback: because,
      waitingFor: null,
    });
    expect((await desk.client.get('/approvals?status=pending')).body.items).toEqual([]);
    const { items: ended } = (await desk.client.get('/approvals?status=cancelled')).body;
    expect(ended).toMatchObject([{ approvalId, feedback: because }]);
    const { items: failed } = (await desk.client.get('/directives?status=failed')).body;
    expect(failed).toMatchObject([{ directiveId, error: { nextStep: NEXT_STEP } }]);
  });

  it('is not what was ready before approvals had keys', async () => {
    const { desk } = await opened();
    const { approvalId } = await desk.handInReady();
    await test.rows('update approvals set group_key = null where approval_id = $1', [approvalId]);
    expect((await desk.approve(approvalId)).status).toBe(200);
  });
});
