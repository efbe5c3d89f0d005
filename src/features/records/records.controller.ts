import { Controller, Get, Param, Query, Body, HttpStatus, Post, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route, ACTS } from '../../platform/http/route.js';
import { NotFound, AlreadyExists, InvalidTransition } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { specified } from '../../platform/rate-limit/limits.js';
import {
  DOCUMENT_PARAM,
  DocumentPage,
  DocumentView,
  RecordedRevenue,
  RecordRevenueBody,
  RevenueEventPage,
  RevenueEventsQuery,
  AcknowledgeBody,
  SIGNAL_PARAM,
  SignalPage,
  SignalsQuery,
  SignalView,
} from './records.dto.js';
import { Documents } from './documents.repository.js';
import { RecordRevenue } from './record-revenue.js';
import { RevenueEvents } from './revenue-events.repository.js';
import { Signals } from './signals.repository.js';

@Controller('api/pro/documents')
export class DocumentsController {
  constructor(private readonly documents: Documents) {}

  /** What the capos filed, newest first, without the texts. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: DocumentPage } })
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery): Promise<DocumentPage> {
    return this.documents.list(scopeOf(caller), page);
  }

  /** One filed document with its text. */
  @ApiParam(DOCUMENT_PARAM)
  @Get(':id')
  @Route({ auth: 'member', replica: true, returns: { 200: DocumentView } })
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DocumentView> {
    const document = isId('doc', id) ? await this.documents.find(scopeOf(caller), id) : undefined;
    if (!document) throw new NotFound();
    return document;
  }
}

@ApiTags('revenueEvents')
@Controller('api/pro/revenue-events')
export class RevenueController {
  constructor(
    private readonly recordRevenue: RecordRevenue,
    private readonly revenue: RevenueEvents,
  ) {}

  /** What was earned, the latest first, of what the caller may see. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/revenue-events'),
    returns: { 200: RevenueEventPage },
  })
  list(@CurrentCaller() caller: Caller, @Query() query: RevenueEventsQuery): Promise<RevenueEventPage> {
    return this.revenue.list(scopeOf(caller), query);
  }

  /** Logs a revenue event; one that was reported before is answered as it was recorded. */
  @Post()
  @Route({
    ...ACTS,
    limit: specified('/api/pro/revenue-events'),
    returns: { 201: RecordedRevenue, 200: RecordedRevenue },
    errors: [AlreadyExists, NotFound],
  })
  async record(
    @CurrentCaller() caller: Caller,
    @Body() body: RecordRevenueBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecordedRevenue> {
    const recorded = await this.recordRevenue.execute(caller, body);
    response.status(recorded.duplicate ? HttpStatus.OK : HttpStatus.CREATED);
    return recorded;
  }
}

@Controller('api/pro')
export class SignalsController {
  constructor(private readonly signals: Signals) {}

  /** What was raised and not withdrawn, newest first, without the texts. */
  @Get('signals')
  @Route({ auth: 'member', replica: true, returns: { 200: SignalPage } })
  list(@CurrentCaller() caller: Caller, @Query() query: SignalsQuery): Promise<SignalPage> {
    return this.signals.list(scopeOf(caller), query);
  }

  /** One signal with its text. */
  @ApiParam(SIGNAL_PARAM)
  @Get('signals/:signalId')
  @Route({ auth: 'member', replica: true, returns: { 200: SignalView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('signalId') signalId: string): Promise<SignalView> {
    return this.signals.get(scopeOf(caller), signalId);
  }

  /** Acknowledges a signal, or snoozes it. */
  @Post('ack')
  @Route({
    ...ACTS,
    limit: specified('/api/pro/ack'),
    returns: { 200: SignalView },
    errors: [NotFound, InvalidTransition],
  })
  acknowledge(@CurrentCaller() caller: Caller, @Body() body: AcknowledgeBody): Promise<SignalView> {
    return this.signals.acknowledge(caller, body);
  }
}
