import { cutText, storable } from '../../platform/kernel/text.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { CAPO_ROLES, type CapoRole, COST_CURRENCY } from '../terms/terms.js';
import { ACTIONS_OF_AGENTS, FiguresOfAgents, type ReportedAgent } from './agent-figures.js';

/**
 * Amounts by currency, added exactly: as whole numbers of the smallest part that is kept. Receipts are added as they are,
 * so there is no number that it cannot take: one that is none counts as 0.
 */
export class Sums {
  readonly #units = new Map<string, bigint>();

  /** @param digits how many places behind the point amounts have: 4 of money, 6 of what models cost, 0 of tokens */
  constructor(private readonly digits: number) {}

  add(amount: number, currency: string): void {
    this.#units.set(currency, (this.#units.get(currency) ?? 0n) + unitsOf(amount, this.digits));
  }

  /** The nearest number; the largest there is where the sum is larger still. */
  in(currency: string): number {
    const sum = Number(`${this.#units.get(currency) ?? 0n}e-${this.digits}`);
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum));
  }

  /** Each with its sum, by name, without `except`. */
  byCurrency(except?: string): Record<string, number> {
    const currencies = [...this.#units.keys()].filter((currency) => currency !== except).toSorted();
    return Object.fromEntries(currencies.map((currency) => [currency, this.in(currency)]));
  }
}

function unitsOf(amount: number, digits: number): bigint {
  if (!Number.isFinite(amount)) return 0n;
  // From here on every number is a whole one, and `toFixed` soon writes it with an exponent.
  if (Math.abs(amount) >= Number.MAX_SAFE_INTEGER) return BigInt(amount) * 10n ** BigInt(digits);
  return BigInt(amount.toFixed(digits).replace('.', ''));
}

/** What a receipt has to tell for the numbers of a day to be counted from it. */
export type CountedReceipt = Pick<
  ReceiptContent,
  'action' | 'at' | 'capo' | 'details' | 'directiveId' | 'entity' | 'receiptId' | 'summary'
>;

/** What a receipt of the day tells a reader, in its own words. */
export interface ReportedAct {
  receiptId: string;
  /** ISO 8601. */
  at: string;
  entity: { type: string; id: string };
  directiveId: string | null;
  summary: string;
  /** Whom or what it went to; null where nothing left. */
  to: string | null;
}

/** So many acts of a kind are listed; of the others it is counted how many there are. */
const MOST_ACTS = 20;
const LONGEST_SUMMARY = 300;

type ActList = 'sent' | 'notReached' | 'undone' | 'notDone' | 'acts';
type ActCount =
  | 'movesSent'
  | 'notReachedTotal'
  | 'movesUndone'
  | 'notDoneTotal'
  | 'directivesFailed'
  | 'directivesRejected'
  | 'directivesExpired'
  | 'kills'
  | 'reverts'
  | 'recoveries';

type OfGuardian = 'kills' | 'reverts' | 'recoveries';

/** In which list an act is told, and as what it is counted. */
const TOLD = {
  'packet.executed': ['sent', 'movesSent'],
  'packet.confirmed': ['sent', 'movesSent'],
  'packet.reverted': ['undone', 'movesUndone'],
  'packet.not_reverted': ['notDone'],
  'packet.failed': ['notDone'],
  'packet.denied': ['notDone'],
  'directive.failed': ['notDone', 'directivesFailed'],
  'directive.rejected': ['notDone', 'directivesRejected'],
  'directive.expired': ['notDone', 'directivesExpired'],
  'directive.rest_dropped': ['notDone'],
  'directive.cancelled': ['notDone'],
  'guardian.killed': ['acts', 'kills'],
  'guardian.reverted': ['acts', 'reverts'],
  'guardian.recovering': ['acts', 'recoveries'],
} as const satisfies Record<string, readonly [ActList, ActCount?]>;

/** The actions by which something leaves. */
const LEAVING: readonly unknown[] = ['email.send', 'webhook.post', 'http.call'];

/** What one capo did. */
export interface CapoFigures {
  directivesExecuted: number;
  movesApproved: number;
  movesBlocked: number;
  /** What its models cost, in the currency of the cost ledger. */
  cost: number;
}

/** What models cost, by capo and currency. */
interface CapoCost {
  /** Null: before a capo was chosen. */
  capo: string | null;
  currency: string;
  amount: number;
}

/** What one model cost in one currency. */
interface ModelCost {
  /** Null: of a draft that failed, whose receipt names no model. */
  model: string | null;
  currency: string;
  amount: number;
  tokensIn: number;
  tokensOut: number;
  /** How many receipts tell a cost. */
  calls: number;
}

/** What was sent or done, what was undone and what was not carried out. Reports that were made by earlier versions do not tell it. */
export type DayOfAgents = Record<Exclude<ActCount, OfGuardian>, number> &
  Record<Exclude<ActList, 'acts'>, ReportedAct[]> & { outsideAgents: ReportedAgent[] };

/** Who engaged the kill switch, and who reverted it. */
export type DayOfGuardian = Record<OfGuardian, number> & Record<'acts', ReportedAct[]>;

/** All that a report counts of its receipts; the names are those of its sections (SPECIFICATION, Daily Report). */
export interface ReportFigures {
  revenue: {
    total: number;
    currency: string;
    /** The other currencies, unconverted. */
    byCurrency: Record<string, number>;
    eventsTotal: number;
  };
  agentActivity: {
    directivesExecuted: number;
    movesApproved: number;
    movesBlocked: number;
    capos: Record<CapoRole, CapoFigures>;
  } & DayOfAgents;
  trustIntelligence: { scoresCompleted: number; averageScore: number | null; topGap: string | null };
  guardianState: { blockedMoves: number } & DayOfGuardian;
  costLedger: {
    total: number;
    currency: string;
    byCurrency: Record<string, number>;
    byCapo: CapoCost[];
    byModel: ModelCost[];
  };
}

/** The actions that are counted; what names a cost counts whatever its action. */
export const COUNTED_ACTIONS = [
  'directive.drafted',
  'directive.executed',
  'directive.sending',
  'partner.confidence_updated',
  'revenue.recorded',
  'revenue.reversed',
  ...(Object.keys(TOLD) as (keyof typeof TOLD)[]),
  ...ACTIONS_OF_AGENTS,
] as const;

const MONEY_DIGITS = 4;
const COST_DIGITS = 6;
/** Of a mean, so that the order of adding does not show. */
const MEAN_DIGITS = 4;

interface CapoCounts {
  directivesExecuted: number;
  movesApproved: number;
  movesBlocked: number;
}

interface ModelCounts {
  amounts: Sums;
  tokens: Sums;
  calls: number;
}

/**
 * Counts the numbers of a report from its receipts: each receipt of the range is counted once, whatever its order. The service
 * makes its reports with this, and the verifier of exported receipts counts with it again.
 */
export class FiguresOfReceipts {
  readonly #revenue = new Sums(MONEY_DIGITS);
  #events = 0;
  readonly #capos = new Map<string, CapoCounts>();
  readonly #total: CapoCounts = { directivesExecuted: 0, movesApproved: 0, movesBlocked: 0 };
  readonly #acts: Record<ActList, ReportedAct[]> = {
    sent: [],
    notReached: [],
    undone: [],
    notDone: [],
    acts: [],
  };
  readonly #actCounts: Record<ActCount, number> = {
    movesSent: 0,
    notReachedTotal: 0,
    movesUndone: 0,
    notDoneTotal: 0,
    directivesFailed: 0,
    directivesRejected: 0,
    directivesExpired: 0,
    kills: 0,
    reverts: 0,
    recoveries: 0,
  };
  readonly #outside = new FiguresOfAgents();
  readonly #metrics = new Map<string, { sum: Sums; n: number }>();
  readonly #cost = new Sums(COST_DIGITS);
  readonly #costOfCapos = new Map<string | null, Sums>();
  readonly #costOfModels = new Map<string, { model: string | null; currency: string } & ModelCounts>();

  receipt(receipt: CountedReceipt): void {
    const { action, details } = receipt;
    this.cost(receipt);
    this.act(receipt);
    this.#outside.receipt(receipt);
    switch (action) {
      case 'revenue.recorded':
      case 'revenue.reversed':
        this.#events++;
        this.#revenue.add(numberIn(details['amount']), String(details['currency']));
        break;
      case 'directive.executed':
        this.count(receipt, 'directivesExecuted', 1);
        break;
      case 'directive.sending':
        this.count(receipt, 'movesApproved', countIn(details['packets']));
        break;
      case 'directive.drafted':
        this.count(receipt, 'movesBlocked', deniedIn(details['decisions']));
        break;
      case 'packet.denied':
        this.count(receipt, 'movesBlocked', 1);
        break;
      case 'partner.confidence_updated':
        this.score(String(details['metric']), numberIn(details['newConfidence']));
        break;
    }
  }

  /**
   * @param currency of the workspace, in which single numbers of revenue are given
   * @param costCurrency in which those of what models cost are given
   */
  in(currency: string, costCurrency: string = COST_CURRENCY): ReportFigures {
    const { kills, reverts, recoveries, ...counts } = this.#actCounts;
    const { acts, ...lists } = this.#acts;
    return {
      revenue: {
        total: this.#revenue.in(currency),
        currency,
        byCurrency: this.#revenue.byCurrency(currency),
        eventsTotal: this.#events,
      },
      agentActivity: {
        ...this.#total,
        ...counts,
        ...lists,
        outsideAgents: this.#outside.all(),
        capos: Object.fromEntries(
          CAPO_ROLES.map((capo) => [capo, this.ofCapo(capo, costCurrency)]),
        ) as Record<CapoRole, CapoFigures>,
      },
      trustIntelligence: this.trust(),
      guardianState: { blockedMoves: this.#total.movesBlocked, kills, reverts, recoveries, acts },
      costLedger: {
        total: this.#cost.in(costCurrency),
        currency: costCurrency,
        byCurrency: this.#cost.byCurrency(costCurrency),
        byCapo: this.byCapo(),
        byModel: this.byModel(),
      },
    };
  }

  private count({ capo }: CountedReceipt, name: keyof CapoCounts, n: number): void {
    this.#total[name] += n;
    if (capo === null) return;
    const counts = this.#capos.get(capo) ?? { directivesExecuted: 0, movesApproved: 0, movesBlocked: 0 };
    counts[name] += n;
    this.#capos.set(capo, counts);
  }

  private act(receipt: CountedReceipt): void {
    const { action, details } = receipt;
    if (!Object.hasOwn(TOLD, action)) return;
    const [list, count]: readonly [ActList, ActCount?] = TOLD[action as keyof typeof TOLD];
    if (list === 'sent' && !hasLeft(details)) return;
    if (count) this.#actCounts[count]++;
    // Its work packets that failed are listed themselves.
    if (list === 'notDone' && details['code'] === 'PACKET_FAILED') return;
    if (list === 'notDone') this.#actCounts.notDoneTotal++;
    const { target } = details;
    this.add(list, receipt, list === 'sent' && typeof target === 'string' ? target : null);
    const missed = list === 'sent' ? missedIn(details) : null;
    if (missed === null) return;
    this.#actCounts.notReachedTotal++;
    this.add('notReached', receipt, missed);
  }

  private add(list: ActList, receipt: CountedReceipt, to: string | null): void {
    if (this.#acts[list].length < MOST_ACTS) this.#acts[list].push(actOf(receipt, to));
  }

  private score(metric: string, confidence: number): void {
    const scores = this.#metrics.get(metric) ?? { sum: new Sums(COST_DIGITS), n: 0 };
    scores.sum.add(confidence, '');
    scores.n++;
    this.#metrics.set(metric, scores);
  }

  private cost({ capo, details }: CountedReceipt): void {
    const cost = details['cost'] as Record<string, unknown> | undefined;
    if (typeof cost !== 'object' || cost === null || typeof cost['currency'] !== 'string') return;
    const { currency } = cost;
    const [tokensIn, tokensOut] = [numberIn(cost['tokensIn']), numberIn(cost['tokensOut'])];
    if (tokensIn + tokensOut === 0) return;
    const amount = numberIn(cost['amount']);
    this.#cost.add(amount, currency);
    const ofCapo = this.#costOfCapos.get(capo) ?? new Sums(COST_DIGITS);
    ofCapo.add(amount, currency);
    this.#costOfCapos.set(capo, ofCapo);
    const model = modelIn(details);
    const key = JSON.stringify([model, currency]);
    const none = { model, currency, amounts: new Sums(COST_DIGITS), tokens: new Sums(0), calls: 0 };
    const ofModel = this.#costOfModels.get(key) ?? none;
    ofModel.amounts.add(amount, currency);
    ofModel.tokens.add(tokensIn, 'in');
    ofModel.tokens.add(tokensOut, 'out');
    ofModel.calls++;
    this.#costOfModels.set(key, ofModel);
  }

  private ofCapo(capo: CapoRole, currency: string): CapoFigures {
    const counts = this.#capos.get(capo) ?? { directivesExecuted: 0, movesApproved: 0, movesBlocked: 0 };
    return { ...counts, cost: this.#costOfCapos.get(capo)?.in(currency) ?? 0 };
  }

  private trust(): ReportFigures['trustIntelligence'] {
    const means = [...this.#metrics]
      .map(([metric, { sum, n }]) => ({ metric, mean: sum.in('') / n, sum: sum.in(''), n }))
      .toSorted((a, b) => (a.metric < b.metric ? -1 : 1));
    const scoresCompleted = means.reduce((all, { n }) => all + n, 0);
    if (scoresCompleted === 0) return { scoresCompleted, averageScore: null, topGap: null };
    const sums = new Sums(COST_DIGITS);
    for (const one of means) sums.add(one.sum, '');
    const sum = sums.in('');
    const gaps = means.filter(({ metric }) => metric !== 'overall').toSorted((a, b) => a.mean - b.mean);
    return {
      scoresCompleted,
      averageScore: Number((sum / scoresCompleted).toFixed(MEAN_DIGITS)),
      topGap: gaps[0]?.metric ?? null,
    };
  }

  private byCapo(): CapoCost[] {
    return [...this.#costOfCapos]
      .flatMap(([capo, sums]) =>
        Object.entries(sums.byCurrency()).map(([currency, amount]) => ({ capo, currency, amount })),
      )
      .toSorted((a, b) => (keyOf(a.capo, a.currency) < keyOf(b.capo, b.currency) ? -1 : 1));
  }

  private byModel(): ModelCost[] {
    return [...this.#costOfModels.values()]
      .map(({ model, currency, amounts, tokens, calls }) => ({
        model,
        currency,
        amount: amounts.in(currency),
        tokensIn: tokens.in('in'),
        tokensOut: tokens.in('out'),
        calls,
      }))
      .toSorted((a, b) => (keyOf(a.model, a.currency) < keyOf(b.model, b.currency) ? -1 : 1));
  }
}

function keyOf(name: string | null, currency: string): string {
  return `${name ?? ''} ${currency}`;
}

function numberIn(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function countIn(value: unknown): number {
  return Number.isSafeInteger(value) ? (value as number) : 0;
}

/** How many of the decisions about a draft deny. */
function deniedIn(decisions: unknown): number {
  if (!Array.isArray(decisions)) return 0;
  return decisions.filter((one: { outcome?: unknown } | null) => one?.outcome === 'deny').length;
}

/** The model of the runner that drafted, or the one that was asked. */
function modelIn({ engine, model }: Record<string, unknown>): string | null {
  const named = typeof engine === 'object' && engine !== null ? (engine as { model?: unknown }).model : model;
  return typeof named === 'string' ? named : null;
}

/** A mail that was written to a file has reached nobody. */
function hasLeft({ actionType, result }: Record<string, unknown>): boolean {
  return (
    LEAVING.includes(actionType) &&
    (result as { transport?: unknown } | null | undefined)?.transport !== 'file'
  );
}

/** The recipients of a mail who do not have it, though others do; null where everybody has it. */
function missedIn({ result }: Record<string, unknown>): string | null {
  const recipients = (result as { recipients?: unknown } | null | undefined)?.recipients;
  if (!Array.isArray(recipients)) return null;
  const missed = (recipients as ({ address?: unknown; outcome?: unknown } | null)[]).filter(
    (one) => one?.outcome !== 'accepted',
  );
  return missed.map((one) => String(one?.address)).join(', ') || null;
}

function actOf(
  { receiptId, at, entity, directiveId, summary }: CountedReceipt,
  to: string | null,
): ReportedAct {
  const time = new Date(at);
  return {
    receiptId,
    at: Number.isNaN(time.getTime()) ? String(at) : time.toISOString(),
    entity,
    directiveId,
    summary: cutText(storable(summary), LONGEST_SUMMARY),
    to: to === null ? null : storable(to),
  };
}
