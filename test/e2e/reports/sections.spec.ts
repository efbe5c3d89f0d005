import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CapoRunner, Draft } from '../../../src/features/capos/briefing.js';
import { CAPO_RUNNER } from '../../../src/features/capos/capos.module.js';
import { draftPacket } from '../../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { ReportDesk } from './report-desk.js';

const AT_ONCE = 2;

let test: TestApp;
let runner: CapoRunner;
let original: Pick<CapoRunner, 'run' | 'perWorkspace'>;
/** What capos were asked and have not answered. */
let asked: PromiseWithResolvers<Draft>[];
let mostAtOnce: number;
beforeAll(async () => {
  // Longer than any of these tests waits.
  test = await startTestApp({ REPORT_SECTION_SECONDS: '120' });
  const noon = new Date(test.clock.now());
  noon.setUTCHours(12, 0, 0, 0);
  test.clock.advance(noon.getTime() - test.clock.now());
  runner = test.app.get<CapoRunner>(CAPO_RUNNER);
  original = { run: runner.run.bind(runner), perWorkspace: runner.perWorkspace };
  asked = [];
  mostAtOnce = 0;
  let underWay = 0;
  const run = async () => {
    mostAtOnce = Math.max(mostAtOnce, ++underWay);
    const answer = Promise.withResolvers<Draft>();
    asked.push(answer);
    try {
      return await answer.promise;
    } finally {
      underWay--;
    }
  };
  Object.assign(runner, { run, perWorkspace: AT_ONCE });
});
afterEach(() => {
  for (const { resolve } of asked.splice(0)) resolve(memo('Too late.'));
  mostAtOnce = 0;
});
afterAll(async () => {
  Object.assign(runner, original);
  await test.close();
});

const memo = (body: string): Draft => ({
  remarks: '',
  packets: [draftPacket({ type: 'document.file', params: { title: 'A memo', body } })],
  concerns: [],
  engine: { name: 'openai-compatible', model: 'a-model' },
  cost: { amount: 0.01, currency: 'USD', tokensIn: 100, tokensOut: 10 },
});

/** A workspace whose report of yesterday has so many sections, and is about to be made. */
async function openedWith(sections: number): Promise<ReportDesk> {
  const desk = await ReportDesk.open(test);
  for (let n = 0; n < sections; n++) {
    const section = { title: `Section ${n}`, directive: 'File a summary.', capo: 'capo_revenue' };
    expect((await desk.owner.post('/reports/custom-sections', section)).status).toBe(201);
  }
  await desk.look(desk.day(2));
  return desk;
}

const isAsked = (count: number) =>
  eventually(
    () => Promise.resolve(asked.length),
    (n) => n === count,
  );

/** The sections of the report of yesterday, once none is being written. */
const sectionsOf = (desk: ReportDesk) =>
  eventually(
    async () => (await desk.daily(desk.day(1))).body.customSections as Record<string, string>[],
    (sections) => sections.every(({ status }) => status !== 'pending'),
  );

async function receiptsOf(desk: ReportDesk, action: string) {
  const rows = await test.rows<{ body: string }>(
    'select body from receipts where workspace_id = $1 and action = $2 order by seq',
    [desk.workspaceId, action],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

describe("a section of the workspace's own", () => {
  it('is written beside no more others than the runner writes at once for a workspace', async () => {
    const desk = await openedWith(5);
    await eventually(() => Promise.resolve(asked.length >= AT_ONCE));
    // Time enough for the others to be asked as well.
    for (let n = 0; n < 20; n++) await desk.owner.get('/reports');
    for (let answered = 0; answered < 5; answered++) {
      await isAsked(Math.min(5, answered + AT_ONCE));
      asked[answered]!.resolve(memo('All is well.'));
    }
    const sections = await sectionsOf(desk);
    expect(sections.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'done'));
    expect(mostAtOnce).toBe(AT_ONCE);
  });

  it('is marked, with the reason, where the built-in runner prepared nothing', async () => {
    const desk = await openedWith(1);
    await isAsked(1);
    const remarks =
      "The built-in runner can't write this; nothing was prepared for “A poem”.\nNothing was prepared.";
    asked[0]!.resolve({ ...memo(''), packets: [], remarks, engine: { name: 'builtin', model: null } });
    const error =
      "Nothing was prepared: The built-in runner can't write this; nothing was prepared for “A poem”.";
    expect(await sectionsOf(desk)).toMatchObject([{ status: 'failed', body: null, error }]);
  });

  it('is what a model said where it filed no document', async () => {
    const desk = await openedWith(1);
    await isAsked(1);
    asked[0]!.resolve({ ...memo(''), packets: [], remarks: 'All is well.' });
    expect(await sectionsOf(desk)).toMatchObject([{ status: 'done', body: 'All is well.', error: null }]);
  });

  it('says that the kill switch stopped it, where it did', async () => {
    const desk = await openedWith(1);
    await isAsked(1);
    expect((await desk.owner.post('/guardian/kill-switch')).status).toBe(200);
    const error = 'The kill switch was engaged while its capo was writing it.';
    expect(await sectionsOf(desk)).toMatchObject([{ status: 'failed', error }]);
    expect(await receiptsOf(desk, 'report.section_written')).toMatchObject([
      {
        outcome: 'failure',
        summary: `The section "Section 0" is not in the Daily Report of ${desk.day(1)}. ${error}`,
      },
    ]);
    // What it cost is known once it ends.
    asked[0]!.resolve(memo('Nobody reads this.'));
    const [unused] = await eventually(
      () => receiptsOf(desk, 'report.section_unused'),
      ({ length }) => length > 0,
    );
    expect(unused.details.cost).toMatchObject({ amount: 0.01, currency: 'USD' });
  });

  it('is said to have been written too late where the report has gone without it', async () => {
    const desk = await openedWith(1);
    await isAsked(1);
    await test.rows(
      `update work_items set due_at = now() where workspace_id = $1 and kind = 'report.deliver'`,
      [desk.workspaceId],
    );
    expect(await sectionsOf(desk)).toMatchObject([{ status: 'late' }]);
    asked[0]!.resolve(memo('All is well.'));
    const [receipt] = await eventually(
      () => receiptsOf(desk, 'report.section_written'),
      ({ length }) => length > 0,
    );
    expect(receipt).toMatchObject({
      outcome: 'failure',
      summary: `The section "Section 0" is not in the Daily Report of ${desk.day(1)}. It was written too late: the report had gone by then.`,
      details: { status: 'late', cost: { amount: 0.01 } },
    });
    expect(await sectionsOf(desk)).toMatchObject([{ status: 'late', body: null }]);
  });
});
