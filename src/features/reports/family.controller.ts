import { Body, Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { negotiated } from '../../platform/http/negotiated.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { NotAcceptable, NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { ReportCommentService } from './report-comment.service.js';
import { FamilyReport, FamilyReportQuery } from './family.dto.js';
import { CommentBody, CommentPage, CommentsQuery, CommentView } from './report-comments.dto.js';
import { markdownOf } from './family-report.js';
import { FamilyReports } from './family-report.reader.js';

const FORMATS = ['application/json', 'text/plain'] as const;

const MARKDOWN_EXAMPLE = `# The family's day: 2026-02-18

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
    returns: { 200: { 'application/json': FamilyReport, 'text/plain': MARKDOWN_EXAMPLE } },
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
    return markdownOf(report);
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
