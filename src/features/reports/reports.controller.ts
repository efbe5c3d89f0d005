import { Body, Controller, Delete, Get, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { negotiated } from '../../platform/http/negotiated.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { Forbidden, InvalidTransition, NotAcceptable, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { FamilyReports, familyMarkdownOf } from './family-report.reader.js';
import { FamilyReport, FamilyReportQuery } from './family.dto.js';
import { ReportCommentService } from './report-comment.service.js';
import { CommentBody, CommentPage, CommentsQuery, CommentView } from './report-comments.dto.js';
import {
  ChangeReportConfigBody,
  CustomSectionBody,
  CustomSectionList,
  CustomSectionView,
  ReportConfigView,
} from './report-config.dto.js';
import { ReportConfigService } from './report-config.service.js';
import { ReportConfigs } from './report-configs.repository.js';
import { ReportMailService } from './report-mail.service.js';
import { markdownOf } from './report-outline.js';
import type { CustomSectionEntity } from './report.entity.js';
import { ReportService } from './report.service.js';
import { DailyQuery, DailyReportView, ReportPage, ReportSummary, ResendReportBody } from './reports.dto.js';
import { ReportMailOff, TooManySections } from './reports.errors.js';
import { type ListedReport, Reports } from './reports.repository.js';

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

const FAMILY_EXAMPLE = `# The family's day: 2026-02-18

Northwind, in the zone Europe/Berlin. Report rpt_01khqmcr00k2v9m5d8q1tzxwb3, as of 2026-02-19T06:00:00.000Z.

## Ops

Ops carried out 1 work packet; nothing waits for you.
`;

@Controller('api/pro/family')
export class FamilyController {
  constructor(
    private readonly reports: FamilyReports,
    private readonly comments: ReportCommentService,
  ) {}

  /** The capos' day in one page: what each did, what waits, what failed and what it cost; as Markdown for `text/plain`. */
  @Get('report')
  @Route({
    auth: 'member',
    replica: true,
    returns: { 200: { 'application/json': FamilyReport, 'text/plain': FAMILY_EXAMPLE } },
    errors: [NotFound, NotAcceptable],
  })
  async getReport(
    @CurrentCaller() caller: Caller,
    @Query() query: FamilyReportQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<FamilyReport | string> {
    const format = negotiated(request, response, FORMATS);
    const report = await this.reports.read(caller, query);
    if (format === 'application/json') return report;
    response.type('text/plain; charset=utf-8');
    return familyMarkdownOf(report);
  }

  /** Comments on a report, for everybody who may read it. */
  @Post('comment')
  @Route({
    ...ACTS,
    limit: specified('/api/pro/family/comment'),
    returns: { 201: CommentView },
    errors: [NotFound],
  })
  comment(@CurrentCaller() caller: Caller, @Body() body: CommentBody): Promise<CommentView> {
    return this.comments.add(caller, body);
  }

  /** What was said about a report, or about all that the caller may read; newest first. */
  @Get('comment')
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/family/comment'),
    returns: { 200: CommentPage },
    errors: [NotFound],
  })
  listComments(@CurrentCaller() caller: Caller, @Query() query: CommentsQuery): Promise<CommentPage> {
    return this.comments.list(caller, query);
  }
}

@ApiTags('reports')
@Controller('api/pro/reports')
export class ReportConfigController {
  constructor(
    private readonly configs: ReportConfigs,
    private readonly service: ReportConfigService,
  ) {}

  /** How the workspace wants its reports. */
  @Get('config')
  @Route({ auth: 'member', replica: true, role: 'admin', returns: { 200: ReportConfigView } })
  getConfig(@CurrentCaller() caller: Caller): Promise<ReportConfigView> {
    return this.service.read(scopeOf(caller));
  }

  /** Changes how the workspace wants its reports; what is left out stays as it is. */
  @Put('config')
  @Route({ auth: 'member', role: 'admin', returns: { 200: ReportConfigView } })
  updateConfig(
    @CurrentCaller() caller: Caller,
    @Body() body: ChangeReportConfigBody,
  ): Promise<ReportConfigView> {
    return this.service.change(caller, body);
  }

  /** The sections that the workspace has added to its reports. */
  @Get('custom-sections')
  @Route({ auth: 'member', replica: true, role: 'admin', returns: { 200: CustomSectionList } })
  async listSections(@CurrentCaller() caller: Caller): Promise<CustomSectionList> {
    const sections = await this.configs.sections(scopeOf(caller));
    return { items: sections.map(viewOf) };
  }

  /** Adds a section, which its capo writes anew for each report. */
  @Post('custom-sections')
  @Route({ auth: 'member', role: 'admin', returns: { 201: CustomSectionView }, errors: [TooManySections] })
  async addSection(
    @CurrentCaller() caller: Caller,
    @Body() body: CustomSectionBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CustomSectionView> {
    const section = await this.service.addSection(caller, body);
    response.location(`/api/pro/reports/custom-sections/${section.sectionId}`);
    return viewOf(section);
  }

  /** Takes a section out of the reports to come. */
  @ApiParam({
    name: 'sectionId',
    description: 'The id of the section.',
    example: 'sec_01khqw6q006hs686p8sr7arg9t',
  })
  @Delete('custom-sections/:sectionId')
  @Route({ auth: 'member', role: 'admin', returns: { 200: CustomSectionView }, errors: [NotFound] })
  async deleteSection(
    @CurrentCaller() caller: Caller,
    @Param('sectionId') sectionId: string,
  ): Promise<CustomSectionView> {
    return viewOf(await this.service.deleteSection(caller, sectionId));
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

function viewOf(section: CustomSectionEntity): CustomSectionView {
  const { sectionId, title, directive, capo, includeInReport, createdAt } = section;
  return { sectionId, title, directive, capo, includeInReport, createdAt };
}
