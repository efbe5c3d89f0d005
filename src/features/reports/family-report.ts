import { markdownLine } from '../../platform/kernel/markdown.js';
import { counted, money } from '../../platform/kernel/readable-numbers.js';
import { cutText } from '../../platform/kernel/text.js';
import { CAPOS, CAPO_ROLES, type CapoRole } from '../capos/index.js';
import type { CapoDay, FamilyReport } from './family.dto.js';

/** What the day's rows say, by capo. */
export interface DayFacts {
  /** What receipts of the day say, by capo and action. */
  counts: { capo: CapoRole; action: DayAction; n: number }[];
  /** The newest of each capo and kind, the newest first. */
  receipts: { capo: CapoRole; action: DayAction; receiptId: string; at: number; summary: string }[];
  /** What waits now. */
  waiting: { capo: CapoRole; n: number }[];
  approvals: {
    capo: CapoRole;
    approvalId: string;
    title: string;
    ready: boolean;
    risk: string;
    requestedAt: number;
    expiresAt: number;
  }[];
  /** Work packets that a decision of the day has denied. */
  denied: { capo: CapoRole; n: number }[];
  /** Of the drafts that were begun that day. */
  costs: { capo: CapoRole; currency: string; amount: number }[];
}

export const DONE = ['packet.executed', 'directive.executed'] as const;
export const FAILED = ['packet.failed', 'packet.denied', 'directive.failed'] as const;
const UNDONE = ['packet.reverted'] as const;
export const DAY_ACTIONS = [...DONE, ...FAILED, ...UNDONE] as const;
type DayAction = (typeof DAY_ACTIONS)[number];

const SUMMARY = 300;

/** The day of each capo, whether or not anything happened. */
export function caposOf(facts: DayFacts): CapoDay[] {
  return CAPO_ROLES.map((role) => capoDay(role, facts));
}

function capoDay(role: CapoRole, { counts, receipts, waiting, approvals, denied, costs }: DayFacts): CapoDay {
  const count = (action: DayAction) =>
    counts.find((each) => each.capo === role && each.action === action)?.n ?? 0;
  const listed = (actions: readonly DayAction[]) =>
    receipts
      .filter((each) => each.capo === role && actions.includes(each.action))
      .map(({ receiptId, at, summary }) => ({ receiptId, at: iso(at), summary: cutText(summary, SUMMARY) }));
  const day = {
    capo: role,
    name: CAPOS[role].name,
    did: {
      packetsExecuted: count('packet.executed'),
      directivesExecuted: count('directive.executed'),
      packetsReverted: count('packet.reverted'),
      items: listed(['packet.executed', 'packet.reverted']),
    },
    waits: {
      approvals: waiting.find((each) => each.capo === role)?.n ?? 0,
      items: approvals
        .filter((each) => each.capo === role)
        .map(({ approvalId, title, ready, risk, requestedAt, expiresAt }) => ({
          approvalId,
          title,
          ready,
          risk,
          requestedAt: iso(requestedAt),
          expiresAt: iso(expiresAt),
        })),
    },
    failed: {
      packetsFailed: count('packet.failed'),
      packetsDenied: denied.find((each) => each.capo === role)?.n ?? 0,
      directivesFailed: count('directive.failed'),
      inAll: FAILED.reduce((sum, action) => sum + count(action), 0),
      items: listed(FAILED),
    },
    cost: costs.filter((each) => each.capo === role).map(({ currency, amount }) => ({ currency, amount })),
  };
  return { ...day, sentence: sentenceOf(day) };
}

const iso = (at: number) => new Date(at).toISOString();

function sentenceOf({ name, did, waits, failed, cost }: Omit<CapoDay, 'sentence'>): string {
  const parts: string[] = [];
  if (did.packetsExecuted > 0) parts.push(`carried out ${counted(did.packetsExecuted, 'work packet')}`);
  if (did.packetsReverted > 0) parts.push(`had ${counted(did.packetsReverted, 'work packet')} undone`);
  if (failed.packetsFailed > 0) parts.push(`failed with ${counted(failed.packetsFailed, 'work packet')}`);
  if (failed.packetsDenied > 0) parts.push(`was denied ${counted(failed.packetsDenied, 'work packet')}`);
  if (failed.directivesFailed > 0)
    parts.push(`could not finish ${counted(failed.directivesFailed, 'directive')}`);
  const done = parts.length === 0 ? `${name} carried out nothing` : `${name} ${listOf(parts)}`;
  const waiting =
    waits.approvals === 0
      ? 'nothing waits for you'
      : `${counted(waits.approvals, 'approval')} ${waits.approvals === 1 ? 'waits' : 'wait'} for a decision`;
  const spent =
    cost.length === 0
      ? ''
      : ` Its drafts cost ${listOf(cost.map(({ amount, currency }) => money(amount, currency)))}.`;
  return `${done}; ${waiting}.${spent}`;
}

function listOf(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** The report as a page of Markdown. */
export function markdownOf(report: FamilyReport): string {
  const { workspaceName, date, timezone, partial, teamId, capos, reportId, generatedAt } = report;
  const scope = teamId === null ? '' : ` for the team ${teamId}`;
  const opening = [
    `# The family's day: ${date}`,
    `${markdownLine(workspaceName)}${scope}, in the zone ${timezone}. Report ${reportId}, as of ${generatedAt}.${
      partial ? ' The day is not over yet.' : ''
    }${report.countsAreMinimum ? ' So much happened that the counts are minimums.' : ''}`,
  ];
  return `${[...opening, ...capos.map(capoMarkdown)].join('\n\n')}\n`;
}

function capoMarkdown({ name, sentence, did, waits, failed }: CapoDay): string {
  const blocks = [`## ${name}`, sentence];
  const list = (title: string, items: readonly string[], inAll: number) => {
    if (items.length === 0) return;
    const more = inAll > items.length ? [`- … and ${inAll - items.length} more`] : [];
    blocks.push([`**${title}**`, '', ...items.map((item) => `- ${item}`), ...more].join('\n'));
  };
  const ofReceipts = (items: CapoDay['did']['items']) =>
    items.map(({ summary, receiptId }) => `${markdownLine(summary)} (${receiptId})`);
  list('What it did', ofReceipts(did.items), did.packetsExecuted + did.packetsReverted);
  list(
    'What waits',
    waits.items.map(
      ({ title, approvalId, ready, risk, expiresAt }) =>
        `${markdownLine(title)}: ${ready ? `risk ${risk}` : 'its draft is being made'}, until ${expiresAt} (${approvalId})`,
    ),
    waits.approvals,
  );
  list('What failed', ofReceipts(failed.items), failed.inAll);
  return blocks.join('\n\n');
}
