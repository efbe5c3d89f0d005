import { Body, Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { negotiated } from '../../platform/http/negotiated.js';
import { Route } from '../../platform/http/route.js';
import { Forbidden, InvalidTransition, NotAcceptable, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { type ListedReport, Reports } from './reports.repository.js';
import { ReportService } from './report.service.js';
import { markdownOf } from './report-outline.js';
import { DailyQuery, DailyReportView, ReportPage, ReportSummary, ResendReportBody } from './reports.dto.js';
import { ReportMailOff } from './reports.errors.js';
import { ReportMailService } from './report-mail.service.js';

/** How a report looks as Markdown, for the documentation. */
const MARKDOWN_EXAMPLE = `# Daily Report, Tuesday, 17 February 2026

12 directives executed, 1,204.50 EUR earned, 3 approvals waiting (1 urgent).

## Waiting for you

- Approvals: 3
- Urgent: 1
`;

const FORMATS = ['application/json', 'text/plain'] as const;

@Controller('api/pro/reports')
export class ReportsController {
  constructor(
    private readonly service: ReportService,
    private readonly reports: Reports,
    private readonly mail: ReportMailService,
  ) {}

  /** The report of a day, as JSON or, with `Accept: text/plain`, as Markdown. An operator who asks for one that is missing has it made. */
  @Get('daily')
  @Route({
    auth: 'member',
    replica: true,
    returns: { 200: { 'application/json': DailyReportView, 'text/plain': MARKDOWN_EXAMPLE } },
    errors: [NotFound, NotAcceptable],
  })
  async getDaily(
    @CurrentCaller() caller: Caller,
    @Query() { date }: DailyQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DailyReportView | string> {
    const format = negotiated(request, response, FORMATS);
    const report = await this.service.read(caller, date);
    if (format === 'application/json') return report;
    response.type('text/plain; charset=utf-8');
    return markdownOf(report);
  }

  /** The reports that were made, the latest day first. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: ReportPage }, errors: [Forbidden] })
  async list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<ReportPage> {
    await this.service.requireWholeWorkspace(caller);
    const page = await this.reports.list(scopeOf(caller), query);
    return { ...page, items: await this.summariesOf(caller, page.items) };
  }

  /** Mails a report again, to the recipients that are configured now, or to those whose mail failed. */
  @ApiParam({
    name: 'reportId',
    description: 'The id of the report.',
    example: 'rpt_01khq1ntg0a5m3k4s8xw2v7c9d',
  })
  @Post(':reportId/resend')
  @Route({
    auth: 'member',
    role: 'admin',
    returns: { 202: ReportSummary },
    errors: [NotFound, ReportMailOff, InvalidTransition],
  })
  async resend(
    @CurrentCaller() caller: Caller,
    @Param('reportId') reportId: string,
    @Body() { to = 'all' }: ResendReportBody,
  ): Promise<ReportSummary> {
    const report = await this.mail.resend(caller, reportId, to);
    return (await this.summariesOf(caller, [report]))[0]!;
  }

  private async summariesOf(caller: Caller, reports: readonly ListedReport[]): Promise<ReportSummary[]> {
    const ids = reports.map(({ reportId }) => reportId);
    const mails = ids.length === 0 ? [] : await this.reports.mailsOf(scopeOf(caller), ids);
    const isAdmin = hasRole(caller.role, 'admin');
    return reports.map((report) => ({
      ...summaryOf(report),
      recipients: mails
        .filter(({ reportId }) => reportId === report.reportId)
        .map(({ memberId, address, status, at, error }) => ({
          memberId,
          address: isAdmin ? address : null,
          status,
          at: inIso(at),
          // A mail server may quote the address.
          error: isAdmin ? error : null,
        })),
    }));
  }
}

function summaryOf(report: ListedReport): Omit<ReportSummary, 'recipients'> {
  const { reportId, date, generatedAt, format, trigger, headline } = report;
  const { deliveryChannel: channel, deliveryStatus: status, deliveryAt } = report;
  return {
    reportId,
    date,
    generatedAt: new Date(generatedAt).toISOString(),
    format,
    trigger,
    delivery: { channel, status, at: inIso(deliveryAt) },
    headline,
  };
}

function inIso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
