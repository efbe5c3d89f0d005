import type { ContextView, DailyReportView, KpiView } from '@consigliere/sdk';
import type { Command } from 'commander';
import { type Context, define } from '../command.js';
import { record, sparkline, styled, styleOf, table, visible, when } from '../output.js';

/** How things stand: the report of a day, the figures, and the context that an assistant would be given. */
export function overview(program: Command): void {
  define(program, {
    usage: 'report [date]',
    summary: 'Show the Daily Report, of today or of a day: 2026-11-22',
    progress: 'Counting',
    run: async ({ client, args }) => client.reports.getDaily({ date: args[0] }),
    show: report,
  }).helpGroup('Work:');
  define(program, {
    usage: 'kpi',
    summary: 'Show the figures with their last 30 days',
    options: [['--team <teamId>', 'only those of this team']],
    run: async ({ client, options }: Context<{ team?: string }>) => client.kpi.get({ teamId: options.team }),
    show: kpi,
  }).helpGroup('Work:');
  define(program, {
    usage: 'context',
    summary: 'Show the context that an assistant is given',
    run: async ({ client }) => client.context.get(),
    show: context,
  }).helpGroup('Work:');
}

function kpi({ tiles, outsideAgents }: KpiView): string {
  const names: Record<keyof KpiView['tiles'], string> = {
    revenueThisWeek: 'Revenue this week',
    packetsExecuted: 'Packets executed',
    approvalsPending: 'Approvals pending',
    costLast7Days: 'Cost, last 7 days',
    evalPassRate: 'Checks passed',
    connectorHealth: 'Connectors healthy',
  };
  const rows = Object.entries(names).map(([key, name]) => ({
    name,
    ...tiles[key as keyof KpiView['tiles']],
  }));
  const lines = [
    table(rows, [
      { head: 'Figure', cell: ({ name }) => name },
      { head: 'Now', cell: ({ value, unit }) => (value === null ? '-' : `${value} ${unit}`) },
      {
        head: 'Change',
        cell: ({ changePercent: change }) => (change === null ? '' : `${change > 0 ? '+' : ''}${change} %`),
      },
      { head: '30 days', cell: (row) => sparkline(row.sparkline), style: () => 'cyan' },
    ]),
  ];
  if (outsideAgents.length > 0)
    lines.push(
      '',
      table(outsideAgents, ['name', 'allowed', 'approved', 'denied', 'rejected', 'completed', 'failed']),
    );
  return lines.join('\n');
}

function report({ headline, date, timezone, partial, sections, ...more }: DailyReportView): string {
  const { revenue, agentActivity, approvalQueue, costLedger, guardianState, tomorrowQueue } = sections;
  const lines = [
    styled('bold', visible(headline)),
    `${date}, ${timezone}${partial ? ', the day is not over yet' : ''}`,
    '',
    record({
      revenue: revenue && `${revenue.total} ${revenue.currency} in ${revenue.eventsTotal} events`,
      executed: agentActivity?.directivesExecuted,
      approved: agentActivity?.movesApproved,
      blocked: agentActivity?.movesBlocked,
      waiting: approvalQueue && `${approvalQueue.pending}, ${approvalQueue.urgent} urgent`,
      escalations: approvalQueue?.escalations?.open,
      trust: sections.trustIntelligence?.averageScore,
      cost: costLedger && `${costLedger.total} ${costLedger.currency}`,
      guardian: guardianState?.mode,
      tomorrow: tomorrowQueue?.total,
      receipts: `${more.receiptRange.from} to ${more.receiptRange.to}`,
    }),
  ];
  const list = (title: string, entries: string[]) => {
    if (entries.length > 0)
      lines.push('', styled('bold', title), ...entries.map((entry) => `  ${visible(entry)}`));
  };
  list('Sent', agentActivity?.sent?.map(({ summary }) => summary) ?? []);
  list('Not done', agentActivity?.notDone?.map(({ summary }) => summary) ?? []);
  list(
    'Waiting for you',
    approvalQueue?.items.map(({ title, approvalId }) => `${approvalId}  ${title}`) ?? [],
  );
  list('Tomorrow', tomorrowQueue?.items.map(({ title }) => title) ?? []);
  for (const { title, body, error } of more.customSections) list(title, (body ?? error ?? '').split('\n'));
  return lines.join('\n');
}

function context({ guardian, metrics, receiptHead, generatedAt, ...found }: ContextView): string {
  const { revenue24h, signalsScored } = metrics;
  const signals = found.signals
    .slice(0, 5)
    .map(({ severity, title, createdAt }) =>
      styled(styleOf(severity) ?? 'dim', visible(`${severity}: ${title} (${when(createdAt)})`)),
    );
  return [
    record({
      ...{ guardian: guardian.mode, waiting: guardian.pending, revenue24h, signalsScored },
      orders: found.standingOrders.length,
      receipt: `${receiptHead.seq} ${receiptHead.hash}`,
      generated: generatedAt,
    }),
    '',
    table(found.workPackets.slice(0, 10), ['workPacketId', 'status', 'title', 'createdAt']),
    ...(signals.length > 0 ? ['', ...signals] : []),
  ].join('\n');
}
