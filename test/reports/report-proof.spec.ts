import { describe, expect, it } from 'vitest';
import {
  GENESIS_HASH,
  receiptBody,
  type ReceiptContent,
  receiptHash,
} from '../../src/platform/receipts/receipt.js';
import { CAPO_ROLES } from '../../src/features/terms/terms.js';
import {
  type CountableReport,
  hashOfReport,
  hashOfText,
  type ReportReceiptDetails,
} from '../../src/features/verifier/countable-report.js';
import { headlineOf, MOST_LISTED, reportIdOf } from '../../src/features/verifier/daily-report.js';
import { OpenWork } from '../../src/features/verifier/open-work.js';
import { FiguresOfReceipts } from '../../src/features/verifier/report-figures.js';
import { countReport } from '../../src/features/verifier/report-proof.js';
import type { ExportedReceipt } from '../../src/features/verifier/report-comparison.js';
import { countInWords, reportIn } from '../../src/features/verifier/verifier.js';

const WORKSPACE = 'wks_01kerpxzm0g7k7xtwmhd8ah2pd';
const CURRENCIES = ['EUR', 'USD', 'JPY'];
const METRICS = ['price_fit', 'trust', 'overall', 'urgency'];
const TEAMS = [null, 'team_a', 'team_b'];
const DAYS = 1_000;

/** The same days each time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What happened on a day, noted apart from its receipts. */
class Noted {
  directivesExecuted = 0;
  movesApproved = 0;
  movesBlocked = 0;
  events = 0;
  /** In ten-thousandths. */
  readonly revenue: Record<string, number> = {};
  readonly costMicros: Record<string, number> = {};
  readonly costMicrosOfModels: Record<string, number> = {};
  readonly blockedOfCapos: Record<string, number> = {};
  scores = 0;
  scoreMillionths = 0;
}

/** Random days, as receipts in a chain and as notes. */
class Days {
  readonly receipts: ExportedReceipt[] = [];
  readonly days: { noted: Noted; from: number; to: number }[] = [];
  pending = 0;
  readonly #random = dice(20_260_218);
  #hash = GENESIS_HASH;
  readonly #open: { directiveId: string; approvalId: string; packets: number }[] = [];

  constructor(days: number) {
    for (let day = 0; day < days; day++) this.day();
  }

  private day(): void {
    const noted = new Noted();
    const from = this.receipts.length + 1;
    for (let acts = this.below(12); acts > 0; acts--) this.act(noted);
    this.days.push({ noted, from, to: this.receipts.length });
  }

  private act(noted: Noted): void {
    const capo = CAPO_ROLES[this.below(CAPO_ROLES.length)]!;
    const currency = CURRENCIES[this.below(CURRENCIES.length)]!;
    switch (this.below(8)) {
      case 0: {
        const units = this.below(10_000_000) - 1_000_000;
        noted.events++;
        noted.revenue[currency] = (noted.revenue[currency] ?? 0) + units;
        const action = units < 0 ? 'revenue.reversed' : 'revenue.recorded';
        const n = this.receipts.length;
        this.append({
          action,
          entity: { type: 'revenue_event', id: `rev_${n}` },
          details: { amount: units / 10_000, currency, source: `till ${n}`, occurredAt: n * 1_000 },
        });
        break;
      }
      case 1: {
        const metric = METRICS[this.below(METRICS.length)]!;
        const millionths = this.below(1_000_001);
        noted.scores++;
        noted.scoreMillionths += millionths;
        this.append({
          action: 'partner.confidence_updated',
          details: { metric, newConfidence: millionths / 1_000_000 },
        });
        break;
      }
      case 2:
      case 3: {
        const n = this.receipts.length;
        const [directiveId, approvalId] = [`dir_${n}`, `apr_${n}`];
        const packets = 1 + this.below(4);
        const denied = this.below(5) === 0;
        this.append({ action: 'directive.created', directiveId, capo });
        this.append({
          action: 'approval.requested',
          entity: { type: 'approval', id: approvalId },
          directiveId,
          capo,
        });
        this.append({
          action: 'directive.drafted',
          directiveId,
          capo,
          details: {
            ...this.paid(noted, currency),
            packets,
            decisions: Array.from({ length: packets }, () => ({
              outcome: denied ? 'deny' : 'require_approval',
            })),
          },
        });
        if (denied) {
          noted.movesBlocked += packets;
          noted.blockedOfCapos[capo] = (noted.blockedOfCapos[capo] ?? 0) + packets;
          this.append({
            action: 'approval.cancelled',
            entity: { type: 'directive', id: directiveId },
            directiveId,
            capo,
            details: { approvalId },
          });
          this.append({ action: 'directive.failed', directiveId, capo });
        } else {
          this.append({
            action: 'approval.ready',
            entity: { type: 'directive', id: directiveId },
            directiveId,
            capo,
            details: { approvalId },
          });
          this.#open.push({ directiveId, approvalId, packets });
          this.pending++;
        }
        break;
      }
      case 4: {
        // What a model is paid for besides drafts that are used: none of it belongs to a draft.
        const [action, ofCapo] = [
          ['chat.model_asked', null],
          ['report.section_written', capo],
          ['directive.draft_failed', capo],
          ['directive.routing_unused', null],
        ][this.below(4)] as [string, typeof capo | null];
        this.append({ action, capo: ofCapo, details: this.paid(noted, currency) });
        break;
      }
      case 5:
        noted.movesBlocked++;
        noted.blockedOfCapos[capo] = (noted.blockedOfCapos[capo] ?? 0) + 1;
        this.append({ action: 'packet.denied', capo });
        break;
      default: {
        const waiting = this.#open.shift();
        if (!waiting) break;
        const { directiveId, approvalId, packets } = waiting;
        const isApproved = this.below(2) === 0;
        this.pending--;
        this.append({
          action: isApproved ? 'approval.approved' : 'approval.rejected',
          entity: { type: 'approval', id: approvalId },
          directiveId,
          capo,
        });
        if (isApproved) {
          noted.movesApproved += packets;
          noted.directivesExecuted++;
          this.append({ action: 'directive.sending', directiveId, capo, details: { approvalId, packets } });
          this.append({ action: 'directive.executed', directiveId, capo });
        } else this.append({ action: 'directive.rejected', directiveId, capo });
      }
    }
  }

  private paid(noted: Noted, currency: string): Record<string, unknown> {
    const micros = this.below(100_000);
    const model = `model-${micros % 3}`;
    const ofModel = `${model} ${currency}`;
    noted.costMicros[currency] = (noted.costMicros[currency] ?? 0) + micros;
    noted.costMicrosOfModels[ofModel] = (noted.costMicrosOfModels[ofModel] ?? 0) + micros;
    return {
      engine: { name: 'openai-compatible', model },
      cost: { amount: micros / 1_000_000, currency, tokensIn: 10, tokensOut: 1 },
    };
  }

  append(receipt: Partial<ReceiptContent> & { action: string }): number {
    const seq = this.receipts.length + 1;
    const content = {
      receiptId: `rcp_${seq}`,
      at: seq,
      actor: { type: 'system', id: 'system', name: 'Consigliere', via: 'schedule' },
      entity: { type: 'directive', id: receipt.directiveId ?? 'none' },
      directiveId: null,
      teamId: TEAMS[this.below(3)]!,
      capo: null,
      outcome: 'success',
      summary: 'Something happened.',
      details: {},
      guardianEpoch: 0,
      requestId: null,
      ...receipt,
    } as Omit<ReceiptContent, 'workspaceId'>;
    const hash = receiptHash(this.#hash, receiptBody({ ...content, workspaceId: WORKSPACE }));
    this.receipts.push({ ...content, seq, prevHash: this.#hash, hash });
    this.#hash = hash;
    return seq;
  }

  below(n: number): number {
    return Math.floor(this.#random() * n);
  }
}

const all = new Days(DAYS);
/** So few that each value of each receipt can be changed. */
const FEW = 25;

function figuresOf({ from, to }: { from: number; to: number }, { receipts } = all) {
  const figures = new FiguresOfReceipts();
  for (const receipt of receipts.slice(from - 1, to)) figures.receipt(receipt);
  return figures.in('EUR');
}

function eventsOf({ from, to }: { from: number; to: number }, { receipts }: Days) {
  return receipts
    .slice(from - 1, to)
    .filter(({ action }) => action.startsWith('revenue.'))
    .slice(0, MOST_LISTED)
    .map(({ entity, details: { amount, currency, source, occurredAt } }) => ({
      eventId: entity.id,
      amount,
      currency,
      source,
      description: 'An order.',
      occurredAt: new Date(occurredAt as number).toISOString(),
    }));
}

/** The report of a day as the service makes it, without what is open; its head is the end of the day. */
function reportOf({ from, to }: { from: number; to: number }, of = all): CountableReport {
  const { guardianState: _blocked, ...sections } = figuresOf({ from, to }, of);
  const date = '2026-02-17';
  return {
    reportId: reportIdOf(WORKSPACE, date),
    date,
    timezone: 'Europe/Vienna',
    generatedAt: '2026-02-18T06:00:00.412Z',
    partial: false,
    currency: 'EUR',
    headline: 'Of what is open, too.',
    sections: { ...sections, revenue: { ...sections.revenue, events: eventsOf({ from, to }, of) } },
    customSections: [],
    receiptRange: { from, to },
    receiptHead: { seq: to, hash: to === 0 ? GENESIS_HASH : of.receipts[to - 1]!.hash! },
  };
}

/** The same with all its sections and its headline. */
function wholeReportOf(range: { from: number; to: number }, of: Days): CountableReport {
  const report = reportOf(range, of);
  const { revenue, agentActivity, guardianState } = figuresOf(range, of);
  const open = new OpenWork();
  for (const receipt of of.receipts.slice(0, range.to)) open.receipt(receipt.seq, receipt);
  const { mode, pending, pendingMoves, queued } = open.figures;
  const approvalQueue = { pending, urgent: 0 };
  const { kills } = guardianState;
  report.headline = headlineOf({ revenue, agentActivity, approvalQueue, guardianState: { mode, kills } });
  Object.assign(report.sections, {
    approvalQueue: { ...approvalQueue, items: [{ approvalId: 'apr_1', title: 'A mail' }] },
    guardianState: { mode, pendingMoves, ...guardianState },
    tomorrowQueue: { total: queued, items: [{ directiveId: 'dir_1', title: 'Write to Jane' }] },
  });
  report.sections.costLedger = {
    ...report.sections.costLedger!,
    budget: { limit: 10, unit: 'amount', currency: 'USD' },
  };
  return report;
}

const SECTION = {
  sectionId: 'sec_1',
  title: 'Pipeline',
  capo: 'capo_revenue',
  status: 'done',
  body: 'Two offers are out.',
  error: null,
};

/** A report of some days together, made and with its receipts: every kind of act is in it. */
function madeReport() {
  const of = new Days(FEW);
  const { from } = of.days[2]!;
  const { to } = of.days.at(-1)!;
  const report: CountableReport = { ...wholeReportOf({ from, to }, of), customSections: [SECTION] };
  const { reportId, date, timezone: zone, generatedAt, receiptRange, receiptHead } = report;
  const details: ReportReceiptDetails = {
    date,
    zone,
    generatedAt,
    receiptRange,
    receiptHead,
    contentHash: hashOfReport(report),
    urgent: [],
    urgentCount: 0,
  };
  const entity = { type: 'report', id: reportId };
  const madeSeq = of.append({ action: 'report.generated', entity, details: { ...details } });
  const { sectionId, status } = SECTION;
  const contentHash = hashOfText(SECTION);
  of.append({ action: 'report.section_written', entity, details: { sectionId, status, contentHash } });
  return { report, receipts: of.receipts, madeSeq, of };
}

interface Leaf {
  path: string;
  /** Puts another value in its place; answers the one that was there. */
  set(root: object, change: (value: unknown) => unknown): unknown;
}

const another = (value: unknown) =>
  typeof value === 'number'
    ? value + 1
    : value === null
      ? 1
      : typeof value === 'boolean'
        ? !value
        : `${JSON.stringify(value)}x`;

/** Every value within that is no object or list. */
function leavesOf(root: object): Leaf[] {
  return Object.entries(root).flatMap(([name, value]): Leaf[] => {
    const step = Array.isArray(root) ? `[${name}]` : `.${name}`;
    if (typeof value === 'object' && value !== null) {
      return leavesOf(value).map((leaf) => ({
        path: step + leaf.path,
        set: (changed, change) => leaf.set(changed[name as keyof typeof changed], change),
      }));
    }
    const set: Leaf['set'] = (changed, change) => {
      const before: unknown = changed[name as keyof typeof changed];
      Object.assign(changed, { [name]: change(before) });
      return before;
    };
    return [{ path: step, set }];
  });
}

describe('a report counted again from its receipts', () => {
  it(`says for each of ${DAYS} random days what was noted apart`, () => {
    for (const { noted, from, to } of all.days) {
      const { sections } = reportOf({ from, to });
      const { revenue, agentActivity, costLedger, trustIntelligence } = sections;
      expect(agentActivity).toMatchObject({
        directivesExecuted: noted.directivesExecuted,
        movesApproved: noted.movesApproved,
        movesBlocked: noted.movesBlocked,
      });
      const { EUR = 0, ...others } = noted.revenue;
      expect(revenue!.total).toBe(EUR / 10_000);
      expect(revenue!.eventsTotal).toBe(noted.events);
      const inUnits = Object.entries(others).map(([currency, units]) => [currency, units / 10_000]);
      expect(revenue!.byCurrency).toEqual(Object.fromEntries(inUnits));
      const { USD: costInUsd = 0, ...otherCosts } = noted.costMicros;
      const inMicros = (micros: Record<string, number>) =>
        Object.fromEntries(Object.entries(micros).map(([name, n]) => [name, n / 1_000_000]));
      expect(costLedger!.total).toBe(costInUsd / 1_000_000);
      expect(costLedger!.byCurrency).toEqual(inMicros(otherCosts));
      const byModel = costLedger!.byModel.map(({ model, currency, amount }) => [
        `${model} ${currency}`,
        amount,
      ]);
      expect(Object.fromEntries(byModel)).toEqual(inMicros(noted.costMicrosOfModels));
      for (const [capo, { movesBlocked }] of Object.entries(agentActivity!.capos))
        expect(movesBlocked).toBe(noted.blockedOfCapos[capo] ?? 0);
      expect(trustIntelligence!.scoresCompleted).toBe(noted.scores);
      if (noted.scores === 0) expect(trustIntelligence!.averageScore).toBeNull();
      else
        expect(trustIntelligence!.averageScore).toBeCloseTo(
          noted.scoreMillionths / noted.scores / 1_000_000,
          3,
        );
    }
  });

  it(`is equal for each of ${DAYS} random days`, () => {
    for (const day of all.days) {
      const days = all.receipts.slice(0, day.to).slice(Math.max(0, day.from - 1));
      const { differences, receipts } = countReport(days, reportOf(day), WORKSPACE);
      expect(differences).toEqual([]);
      expect(receipts).toBe(day.to - day.from + 1);
    }
  });

  it('follows what is open from the first receipt on', () => {
    const { to } = all.days.at(-1)!;
    const report = reportOf({ from: to + 1, to });
    report.sections.approvalQueue = { pending: all.pending, urgent: 0 };
    const { revenue, agentActivity } = figuresOf({ from: to + 1, to });
    const guardianState = { mode: 'guardrailed' };
    const { approvalQueue } = report.sections;
    report.headline = headlineOf({ revenue, agentActivity, approvalQueue, guardianState });
    const { differences, notCounted } = countReport(all.receipts, report, WORKSPACE);
    expect(differences).toEqual([]);
    expect(notCounted).toEqual([
      'date, timezone, generatedAt, partial, currency, sections.approvalQueue.urgent, receiptRange: only the receipt of the making of a report shows that, and none in the file is of this one',
    ]);
    report.sections.approvalQueue.pending++;
    expect(countReport(all.receipts, report).differences).toEqual([
      expect.objectContaining({
        path: 'sections.approvalQueue.pending',
        said: all.pending + 1,
        counted: all.pending,
      }),
    ]);
  });

  it('names one changed receipt, and the number that it falsifies', () => {
    const day = all.days.find(({ from, to }) =>
      all.receipts.slice(from - 1, to).some(({ action }) => action === 'revenue.recorded'),
    )!;
    const receipts = structuredClone(all.receipts.slice(day.from - 1, day.to));
    const changed = receipts.find(({ action }) => action === 'revenue.recorded')!;
    changed.details['amount'] = (changed.details['amount'] as number) + 1;
    const { differences } = countReport(receipts, reportOf(day), WORKSPACE);
    const paths = differences.map(({ path }) => path);
    expect(paths[0]).toBe(`receipts[${changed.seq}]`);
    expect(differences[0]!.message).toBe(
      `Receipt ${changed.seq} was changed: its hash does not match its content.`,
    );
    expect(paths.slice(1)).toEqual([
      expect.stringMatching(/^sections\.revenue\.(total|byCurrency\.)/),
      expect.stringMatching(/^sections\.revenue\.events\[\d+\]\.amount/),
    ]);
  });

  it('names each number of the report that was changed', () => {
    const day = all.days.find(({ noted }) => noted.directivesExecuted > 0 && noted.events > 0)!;
    const report = reportOf(day);
    report.sections.agentActivity!.directivesExecuted++;
    report.sections.revenue!.eventsTotal--;
    const { differences } = countReport(all.receipts.slice(day.from - 1, day.to), report);
    expect(differences.map(({ path }) => path)).toEqual([
      'sections.revenue.eventsTotal',
      'sections.agentActivity.directivesExecuted',
    ]);
  });

  it('names every single number and word of the report that was changed', { timeout: 60_000 }, () => {
    const { report, receipts, madeSeq } = madeReport();
    expect(countReport(receipts, report, WORKSPACE)).toMatchObject({ differences: [], notCounted: [] });
    const leaves = leavesOf(report.sections);
    expect(leaves.length).toBeGreaterThan(60);
    for (const leaf of leaves) {
      const changed = structuredClone(report);
      const before = leaf.set(changed.sections, another);
      const { differences } = countReport(receipts, changed);
      const paths = differences.map(({ path }) => path);
      const where = `${leaf.path}, which was ${JSON.stringify(before)}`;
      // What no other receipt shows stands in the hash that the receipt of the report holds.
      expect(paths, where).toContain(`receipts[${madeSeq}].contentHash`);
      if (!/\.budget\.|\.items\[|\.description$/.test(leaf.path))
        expect(paths, where).toContain(`sections${leaf.path}`);
    }
  });

  it.each<[string, Partial<CountableReport>, string]>([
    ['headline', { headline: 'All fine' }, 'headline'],
    ['id', { reportId: reportIdOf(WORKSPACE, '2026-02-18') }, 'reportId'],
    ['day', { date: '2026-02-18' }, 'date'],
    ['zone', { timezone: 'UTC' }, 'timezone'],
    ['time', { generatedAt: '2026-02-18T07:00:00.000Z' }, 'generatedAt'],
    ['currency', { currency: 'USD' }, 'sections.revenue.currency'],
    ['text of a section', { customSections: [{ ...SECTION, body: 'Sold.' }] }, 'customSections[0]'],
    ['title of a section', { customSections: [{ ...SECTION, title: 'Sales' }] }, 'customSections[0]'],
    [
      'outcome of a section',
      { customSections: [{ ...SECTION, status: 'failed', body: null, error: 'No.' }] },
      'customSections[0]',
    ],
    ['sections', { customSections: [] }, 'customSections'],
  ])('names another %s than the report had as it was made', (_what, change, path) => {
    const { report, receipts } = madeReport();
    const { differences } = countReport(receipts, { ...report, ...change }, WORKSPACE);
    expect(differences.map((one) => one.path)).toContain(path);
    const counted = countReport(receipts, { ...report, ...change }).differences.map((one) => one.path);
    expect(counted).toContain(path);
  });

  it('takes no section for forged that was saved before it was written, or came too late', () => {
    const { report, receipts } = madeReport();
    const pending = { ...SECTION, status: 'pending', body: null };
    const late = { ...SECTION, status: 'late', body: null, error: 'Too late.' };
    const unwritten = receipts.map((receipt) =>
      receipt.action === 'report.section_written'
        ? {
            ...receipt,
            details: {
              ...receipt.details,
              status: 'late',
              contentHash: hashOfText({ ...late, error: 'Gone.' }),
            },
          }
        : receipt,
    );
    for (const [section, exported] of [
      [pending, receipts],
      [late, unwritten],
    ] as const) {
      const count = countReport(exported, { ...report, customSections: [section] });
      expect(count).toMatchObject({
        differences: [],
        notCounted: ['customSections: no receipt in the file shows that'],
      });
    }
  });

  it(
    'finds every single change of a report that passes itself off as partial, or names what it cannot count',
    { timeout: 60_000 },
    () => {
      const { report, receipts, madeSeq } = madeReport();
      const partial = { ...report, partial: true };
      const whole = countReport(receipts, partial, WORKSPACE);
      expect(whole).toMatchObject({
        differences: [],
        notCounted: ['generatedAt, partial: no receipt in the file shows that'],
      });
      const unmade = receipts.slice(0, madeSeq - 1);
      // What says that it is not partial says what it is.
      for (const leaf of leavesOf(partial).filter(({ path }) => path !== '.partial')) {
        for (const exported of [receipts, unmade]) {
          const changed = structuredClone(partial);
          leaf.set(changed, leaf.path === '.date' ? () => '2026-02-18' : another);
          const { differences, notCounted } = countReport(exported, changed);
          const named = notCounted.flatMap((what) => what.split(': ')[0]!.split(', '));
          const path = leaf.path.slice(1).replaceAll(/\[\d+\]/g, '[]');
          const isNamed = named.some(
            (one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`),
          );
          expect(differences.length > 0 || isNamed, `${leaf.path} of ${exported.length}`).toBe(true);
        }
      }
    },
  );

  it('names what a report has besides, under whatever name', () => {
    const { report, receipts, madeSeq } = madeReport();
    const forged = Object.assign(structuredClone(report), { profit: 5 });
    Object.assign(forged.sections, { 'revenue.total': 5 });
    const { notCounted } = countReport(receipts.slice(0, madeSeq - 1), { ...forged, partial: true });
    expect(notCounted[0]).toMatch(/(^|, )sections\["revenue\.total"\], /);
    expect(notCounted[0]).toMatch(/, profit[,:]/);
  });

  it('finds no fault with a report that was saved before it was made', () => {
    const { report, receipts, of } = madeReport();
    const { from, to } = report.receiptRange;
    const before = of.days.findLast((day) => day.to < to)!;
    const early = { ...wholeReportOf({ from, to: before.to }, of), partial: true };
    const { differences, notCounted } = countReport(receipts, early, WORKSPACE);
    expect(differences).toEqual([]);
    expect(notCounted).toEqual([
      'date, timezone, generatedAt, partial, currency, sections.revenue.events[].description, sections.costLedger.budget, sections.approvalQueue.urgent, sections.approvalQueue.items, sections.tomorrowQueue.items, receiptRange: only the receipt of the making of a report shows that, and none in the file is of this one',
    ]);
  });

  it('names a report as partial whose making its receipts show', () => {
    const { report, receipts, madeSeq } = madeReport();
    const receiptHead = { seq: madeSeq, hash: receipts[madeSeq - 1]!.hash! };
    const { differences } = countReport(receipts, { ...report, receiptHead, partial: true }, WORKSPACE);
    expect(differences).toEqual([
      expect.objectContaining({
        path: 'partial',
        message: `partial: the report says that it had not been made at receipt ${madeSeq}, but receipt ${madeSeq} shows that it had.`,
      }),
    ]);
  });

  it('says that all is the same only where all was counted', () => {
    const { report, receipts } = madeReport();
    const words = (one: CountableReport) => countInWords(one, countReport(receipts, one, WORKSPACE))[0]!;
    expect(words(report)).toMatch(/: all that it says is what its receipts show\.$/);
    expect(words({ ...report, partial: true })).toMatch(
      /: no difference was found, but not all that it says could be counted:$/,
    );
    expect(words({ ...report, headline: 'All fine' })).toMatch(/: 1 difference was found:$/);
  });

  it(
    'names every single receipt of the day that was changed, and what it falsifies',
    { timeout: 180_000 },
    () => {
      const { report, receipts } = madeReport();
      const { from, to } = report.receiptRange;
      const falsified = new Set<string>();
      for (let seq = from; seq <= to; seq++) {
        const receipt = receipts[seq - 1]!;
        for (const leaf of leavesOf(receipt.details)) {
          const changed = structuredClone(receipt);
          leaf.set(changed.details, another);
          const { differences } = countReport(receipts.with(seq - 1, changed), report, WORKSPACE);
          const [first, ...others] = differences;
          expect(first, `${receipt.action} ${leaf.path}`).toMatchObject({
            path: `receipts[${seq}]`,
            message: `Receipt ${seq} was changed: its hash does not match its content.`,
          });
          for (const { path } of others) falsified.add(path.replace(/\[\d+\].*|(?<=byCurrency)\..*/, ''));
        }
      }
      // Every kind of number that the details of a receipt decide.
      expect([...falsified]).toEqual(
        expect.arrayContaining([
          'sections.revenue.total',
          'sections.revenue.byCurrency',
          'sections.revenue.events',
          'sections.agentActivity.movesApproved',
          'sections.agentActivity.movesBlocked',
          'sections.trustIntelligence.averageScore',
          'sections.guardianState.blockedMoves',
          'sections.costLedger.total',
          'sections.costLedger.byCurrency',
          'sections.costLedger.byCapo',
          'sections.costLedger.byModel',
        ]),
      );
    },
  );

  it('names a receipt that was taken out, put in twice, or exchanged with its neighbour', () => {
    const { report, receipts } = madeReport();
    const { from } = report.receiptRange;
    const [one, two] = [receipts[from]!, receipts[from + 1]!];
    for (const tampered of [
      receipts.toSpliced(from, 1),
      receipts.toSpliced(from, 0, one),
      receipts.toSpliced(from, 2, two, one),
    ]) {
      const { differences, notCounted } = countReport(tampered, report, WORKSPACE);
      expect(differences.length + notCounted.length).toBeGreaterThan(0);
    }
  });

  it('counts nothing where receipts of the day are missing, and says so', () => {
    const day = all.days.find(({ from, to }) => to - from > 3)!;
    const receipts = all.receipts.slice(day.from, day.to);
    const { differences, notCounted } = countReport(receipts, reportOf(day));
    expect(differences).toEqual([]);
    expect(notCounted[0]).toBe(`the numbers of the day: receipts from ${day.from} to ${day.to} are missing`);
  });
});

describe('a file that is no report', () => {
  it.each<[string, object]>([
    ['without a headline', { headline: undefined }],
    ['with a day that is none', { date: '2026-02-30' }],
    ['with sections that are none', { customSections: [null] }],
    ['that does not say whether it is partial', { partial: 'no' }],
    ['of a half receipt', { receiptRange: { from: 0.5, to: 2 } }],
  ])('is refused %s', (_what, change) => {
    const report = reportOf(all.days[0]!);
    expect(reportIn(JSON.stringify(report))).toEqual(report);
    expect(() => reportIn(JSON.stringify({ ...report, ...change }))).toThrow(
      'The file is no report as GET /reports/daily answers it.',
    );
  });

  it('is refused with a number that is none', () => {
    const report = JSON.stringify(reportOf(all.days[0]!)).replace(/"eventsTotal":\d+/, '"eventsTotal":1e999');
    expect(() => reportIn(report)).toThrow('The file is no report');
  });
});
