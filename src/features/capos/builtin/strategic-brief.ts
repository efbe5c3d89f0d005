import type { PacketBrief } from '../briefing.js';
import { bySeverity, listLength, type Assignment, type Move } from './assignment.js';
import { buyerLines, gapAnswer, gapName } from './buyers.js';
import { spoken } from './calendar.js';
import { documentMove, type Section } from './document.js';
import { orderSection } from './background.js';
import { spokenMoney } from './money.js';
import { capitalised, counted, listed, quotedInline, sentence } from './text.js';

/** The CEO capo's page: where the business stands, what needs attention, what to decide next. */
export function strategicBriefMove(assignment: Assignment, step: string): Move {
  const { calendar } = assignment;
  const morning = /\b(?:morning|daily)\b/i.test(step);
  const title = `${morning ? 'Morning report' : 'Strategic brief'}, ${spoken(calendar.today, calendar)}`;
  const decisions = decisionsFor(assignment);
  return documentMove(
    assignment,
    {
      title,
      sections: [
        { heading: 'Question', lines: morning ? [] : [sentence(quotedInline(step, 4_000))] },
        { heading: 'Where we stand', lines: standing(assignment) },
        attention(assignment),
        { heading: 'Buyers', lines: buyerLines(assignment.briefing.buyerContext).map((line) => `- ${line}`) },
        motion(assignment),
        orderSection(assignment),
        { heading: 'Decide next', lines: decisions.map((decision, at) => `${at + 1}. ${decision}`) },
      ],
    },
    {
      summary: `${title}. First: ${sentence(decisions[0] ?? '')}`,
      rationale: 'A brief from the metrics, signals, buyers and standing orders of this moment.',
    },
  );
}

function standing({ briefing }: Assignment): string[] {
  const { metrics, guardian } = briefing;
  const others = Object.entries(metrics.revenue24hByCurrency);
  const revenue = [[metrics.currency, metrics.revenue24h] as const, ...others]
    .map(([currency, amount]) => spokenMoney(amount, currency))
    .join(', ');
  return [
    `- Revenue in the last 24 hours: ${revenue}`,
    `- Signals scored: ${metrics.signalsScored}`,
    `- Guardian: ${quotedInline(guardian.mode, 40)}, ${counted(guardian.pending, 'work packet')} pending`,
  ];
}

function attention(assignment: Assignment): Section {
  const urgent = bySeverity(assignment.briefing.signals).filter(({ severity }) => severity !== 'info');
  return {
    heading: 'What needs attention',
    lines: urgent
      .slice(0, listLength(assignment, 6))
      .map(
        ({ severity, title, body }) =>
          `- ${capitalised(severity)}: ${quotedInline(title, 150)}. ${quotedInline(body, 200)}`,
      ),
  };
}

function motion(assignment: Assignment): Section {
  const packets = assignment.briefing.recentPackets;
  const open = packets.filter(({ status }) => !/^(?:executed|denied|cancelled|reverted)$/.test(status));
  const lines = open.slice(0, listLength(assignment, 6)).map(packetLine);
  const executed = packets.filter(({ status }) => status === 'executed').length;
  return {
    heading: 'In motion',
    lines: executed > 0 ? [...lines, `- ${counted(executed, 'packet')} executed lately`] : lines,
  };
}

function packetLine({ title, status }: PacketBrief): string {
  return `- ${quotedInline(title, 150)} (${quotedInline(status.replaceAll('_', ' '), 40)})`;
}

/** Rules a reader can check against the page above them; the gravest comes first. */
function decisionsFor({ briefing }: Assignment): string[] {
  const { signals, guardian, metrics, buyerContext, recentPackets } = briefing;
  const critical = bySeverity(signals).filter(({ severity }) => severity === 'critical');
  const warnings = signals.filter(({ severity }) => severity === 'warning').length;
  const failed = recentPackets
    .filter(({ status }) => status === 'failed')
    .map(({ title }) => quotedInline(title, 100));
  const { topGap } = buyerContext.aggregate;
  const answer = gapAnswer(topGap);
  const decisions = [
    ...critical
      .slice(0, 3)
      .map(
        ({ title }) =>
          `Resolve the critical signal “${quotedInline(title, 120)}” today, and name who does it.`,
      ),
    ...(guardian.mode === 'killed'
      ? ['Find out why the kill switch was used before operation is restored.']
      : []),
    ...(guardian.pending > 0
      ? [
          `Review the ${counted(guardian.pending, 'pending work packet')}: approve what is right, reject the rest with a reason.`,
        ]
      : []),
    ...(failed.length > 0 ? [`Look into what failed: ${listed(failed.slice(0, 3))}.`] : []),
    ...(topGap !== null && answer !== null
      ? [`Have Marketing and Revenue close the gap in ${gapName(topGap)}. ${answer}`]
      : []),
    ...([metrics.revenue24h, ...Object.values(metrics.revenue24hByCurrency)].every((amount) => amount <= 0)
      ? ['Ask Revenue which open deal can close this week; the last 24 hours brought nothing in.']
      : []),
    ...(warnings > 0
      ? [
          warnings === 1
            ? 'Assign the one warning to a capo.'
            : `Assign the ${warnings} warnings to a capo each.`,
        ]
      : []),
  ];
  return decisions.length > 0
    ? decisions
    : ['Keep the course: nothing is critical, nothing waits for a decision.'];
}
